/** The provider of a run, and the customer at the bank. */
export const FILE_BANK = 'file-bank';
export const SFTP_LINK = 'the loops to the SFTP server';
