import type { OpenRoute, Route } from './frame/route.ts';
import { machineUserRoutes } from './machine-users.ts';

/** Every route of the service, in the order of the interface specification. One line per resource file. */
export const ROUTES: readonly (Route | OpenRoute)[] = [...machineUserRoutes];
