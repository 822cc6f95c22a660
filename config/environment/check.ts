/**
 * With `--check` a process ends here, where it would begin to work: it has read all of its settings as a start reads them, and accepts
 * them. So a rollout can ask before it replaces anything.
 */
export function endIfOnlyChecking(process: NodeJS.Process, name: string): void {
  if (!process.argv.includes('--check')) return;
  console.log(`${name} can start with these settings.`);
  process.exit(0);
}
