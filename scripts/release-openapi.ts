import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../api/app.ts';
import { openApiDocument } from '../api/frame/openapi/openapi.ts';
import { ROUTES } from '../api/routes.ts';
import { systemRoutes } from '../api/system.ts';

/**
 * `npm run openapi:release`: keeps the present OpenAPI document as the released one, with which
 * test/openapi/openapi-release.test.ts compares every later one.
 */
const RELEASED = fileURLToPath(new URL('../docs/openapi/released.json', import.meta.url));

const document = openApiDocument([...ROUTES, ...systemRoutes(ROUTES, VERSION)], VERSION);
writeFileSync(RELEASED, `${JSON.stringify(document, null, 1)}\n`);
console.log(`Kept version ${VERSION} in docs/openapi/released.json.`);
