/** The caller of a probe needs a quick answer. */
const PROBE_DEADLINE_MS = 2_000;

/** False if the probe fails or times out. */
export async function within(probe: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PROBE_DEADLINE_MS);
  });
  try {
    return await Promise.race([probe.catch(() => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
