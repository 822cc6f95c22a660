import type { Command } from '../../program/command.ts';

/** What is wrong with an installation. */
export const doctorCommands: readonly Command[] = [
  {
    noun: null,
    name: 'doctor',
    summary: 'Says what is wrong with this installation, with the mend; exits with 1 if anything is.',
    reach: 'installation',
    effect: 'reads',
    load: async () => (await import('./doctor.ts')).doctor,
  },
];
