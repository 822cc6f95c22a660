import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../api/app.ts';
import { ROUTES } from '../../api/routes.ts';
import { documentOf } from '../../api/system.ts';

/**
 * `npm run openapi:release`: keeps the present OpenAPI document as the released one, with which
 * test/openapi/openapi-release.test.ts compares every later one.
 */
const RELEASED = fileURLToPath(new URL('../../docs/openapi/released.json', import.meta.url));

const document = documentOf(ROUTES, VERSION);
writeFileSync(RELEASED, `${JSON.stringify(document, null, 1)}\n`);
console.log(`Kept version ${VERSION} in docs/openapi/released.json.`);
