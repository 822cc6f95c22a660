import type { Run } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';
import { reachedApi } from '../program/reached-world.ts';
import { worldLine } from '../program/worlds.ts';
import { openApi } from '../requests/calls.ts';
import { findCaller } from '../requests/signing.ts';

/** Every role may read it, and it is small. */
const PROBE = { method: 'GET', path: '/clients', query: [['metadata.page.size', '1']] } as const;

export const whoami: Run = async (context) => {
  const { output } = context;
  const { world, profile } = reachedApi(context);
  const { machineUser, keyId, audience } = await findCaller(reachedApi(context), context);
  const shown = { ...world, profile: profile.name, machineUser, keyId, audience };
  const isAccepted = await accepted(context);
  output.show({ ...shown, isAccepted }, [
    worldLine(world),
    `machine user  ${machineUser}`,
    `key           ${keyId}`,
    `audience      ${audience}`,
    isAccepted ? 'The service accepts it.' : 'The service does not accept it.',
  ]);
  return isAccepted ? 0 : 5;
};

async function accepted(context: Parameters<Run>[0]): Promise<boolean> {
  const api = await openApi(context);
  try {
    await api.call(PROBE);
    return true;
  } catch (error) {
    if (error instanceof CommandFailure && error.reason === 'unauthorized') return false;
    throw error;
  }
}
