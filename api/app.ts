import { separateAudience } from '../config/configuration.ts';
import { findMachineUserKeys } from '../db/machine-users/machine-users.ts';
import { type Application, createApplication } from './http/application.ts';
import { createAuthenticator } from './http/requests/authentication.ts';
import { createRateLimiter } from './http/requests/rate-limit.ts';
import type { Services } from './http/services.ts';
import type { AnyRoute } from './http/third-party-route.ts';
import { ROUTES } from './routes.ts';
import { systemRoutes } from './system.ts';

export const VERSION = '0.1.0';

/** The API: authentication, rate limit, and every route. `extraRoutes` are for tests. */
export function createApi(services: Services, extraRoutes: readonly AnyRoute[] = []): Application {
  const { configuration, database, environment, now } = services;
  const authenticate = createAuthenticator({
    audience: separateAudience(configuration, environment.publicUrl),
    now,
    findKeys: (kids) => findMachineUserKeys(database.reader, kids),
  });
  const countRequest = createRateLimiter(configuration.rateLimit.requestsPerSecond, now);
  const routes = [...ROUTES, ...extraRoutes];
  return createApplication([...routes, ...systemRoutes(routes, VERSION)], services, { authenticate, countRequest });
}
