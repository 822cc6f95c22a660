import { fileURLToPath } from 'node:url';
import type { workflowBundle as built } from '../../activities/workflow-bundle.ts';

/** In the place of activities/workflow-bundle.ts: the image has the workflows bundled, next to the programs. */
export const workflowBundle: typeof built = async (traces = 'untraced') => ({
  codePath: fileURLToPath(new URL(`workflows-${traces}.js`, import.meta.url)),
});
