/** RFC 5321's limits, with the pattern of HTML's e-mail field and at least one dot in the domain. */
const EMAIL_LENGTH_MAX = 254;
const LOCAL_PART_LENGTH_MAX = 64;
const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const EMAIL = new RegExp(
  `^[a-zA-Z0-9!#$%&'*+/=?^_\`{|}~-]+(?:\\.[a-zA-Z0-9!#$%&'*+/=?^_\`{|}~-]+)*@${LABEL}(?:\\.${LABEL})+$`,
);

export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && text.indexOf('@') <= LOCAL_PART_LENGTH_MAX && EMAIL.test(text);
}

/** Two addresses that differ only in case have the same key. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
