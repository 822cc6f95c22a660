#!/usr/bin/env node
import manifest from '../package.json' with { type: 'json' };
import { COMMAND_NOUNS, COMMANDS } from './commands.ts';
import { EXIT_STATUSES } from './program/exit-statuses.ts';
import { runCommandLine } from './program/run.ts';

/** What a command may still take to end what it has begun. */
const INTERRUPTION_MS_MAX = 3_000;

/** `fas`: the command line of the service, for those who integrate with it and those who operate it. */
const interruption = new AbortController();
const interrupted = () => process.exit(EXIT_STATUSES.interrupted.status);
process.on('SIGINT', () => {
  // Those who ask twice do not want to wait for the end of what was begun.
  if (interruption.signal.aborted) interrupted();
  interruption.abort();
  setTimeout(interrupted, INTERRUPTION_MS_MAX).unref();
});
// The reader has seen enough, as `head` has, and must not take that for a success.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT_STATUSES.unread.status);
  throw error;
});

process.exitCode = await runCommandLine({
  words: process.argv.slice(2),
  commands: COMMANDS,
  nouns: COMMAND_NOUNS,
  version: manifest.version,
  environment: process.env,
  streams: { data: process.stdout, errors: process.stderr },
  signal: interruption.signal,
});
