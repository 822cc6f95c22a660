import { parseArgs } from 'node:util';
import { ActionableError, describeFailure } from '../cli/common/actionable-error.ts';
import { dataDirectory } from '../cli/common/data-directory.ts';
import { readEndpoints } from '../cli/common/endpoints.ts';
import { isRole, ROLES, type Role } from '../domain/machine-users/roles.ts';
import { developmentToken } from './start/development-users.ts';

/** `npm run -s token [-- --role R]`: a bearer token and nothing else on standard output. */
async function main(): Promise<void> {
  const role = wantedRole();
  const directory = dataDirectory(process.env);
  const token = await developmentToken(directory, readEndpoints(directory), { role, now: new Date() });
  process.stdout.write(`${token}\n`);
}

function wantedRole(): Role | undefined {
  const usage = `Usage: npm run -s token [-- --role ${ROLES.join('|')}]`;
  let role: string | undefined;
  try {
    role = parseArgs({ options: { role: { type: 'string' } } }).values.role;
  } catch (error) {
    throw new ActionableError(usage, { cause: error });
  }
  if (role !== undefined && !isRole(role)) throw new ActionableError(`There is no role "${role}". ${usage}`);
  return role;
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});
