/** Of the company's identity provider in the sandbox. Apart from its code, which `npm start` need not load. */

export const IDENTITY_PATH = '/identity';

/** Where a person picks who they are, below it. */
export const PICK_PATH = '/pick';

/** The console's id at it. */
export const CONSOLE_CLIENT_ID = 'console';
