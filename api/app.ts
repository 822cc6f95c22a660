import { audienceBeside } from '../config/configuration.ts';
import { findMachineUserKeys } from '../db/machine-users/machine-users.ts';
import { type Application, createApplication } from './frame/application.ts';
import { createAuthenticator } from './frame/requests/authentication.ts';
import { createRateLimiter } from './frame/requests/rate-limit.ts';
import type { Services } from './frame/services.ts';
import type { AnyRoute } from './frame/third-party-route.ts';
import { ROUTES } from './routes.ts';
import { systemRoutes } from './system.ts';

export const VERSION = '0.1.0';

/** The API: authentication, rate limit, and every route. `extraRoutes` are for tests of the frame. */
export function createApi(services: Services, extraRoutes: readonly AnyRoute[] = []): Application {
  const { configuration, database, environment, now } = services;
  const authenticate = createAuthenticator({
    audience: audienceBeside(configuration, environment.publicUrl),
    now,
    findKeys: (kids) => findMachineUserKeys(database.reader, kids),
  });
  const countRequest = createRateLimiter(configuration.rateLimit.requestsPerSecond, now);
  const routes = [...ROUTES, ...extraRoutes];
  return createApplication([...routes, ...systemRoutes(routes, VERSION)], services, { authenticate, countRequest });
}
