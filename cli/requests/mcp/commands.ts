import type { Command } from '../../program/command.ts';

export const assistantCommands: readonly Command[] = [
  {
    noun: null,
    name: 'mcp',
    summary:
      'Serves an assistant over standard input and output (Model Context Protocol). It reads what the profile’s machine user may read, and changes nothing: the role viewer is enough.',
    reach: 'api',
    effect: 'reads',
    streams: true,
    load: async () => (await import('./serve.ts')).serveAssistant,
  },
];
