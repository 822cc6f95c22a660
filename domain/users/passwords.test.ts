import { describe, expect, test } from 'vitest';
import { checkPassword, preparePassword } from './passwords.ts';

const PERSON = ['Lovelace', 'Ada', 'ada.lovelace@example.com'];

describe('a password', () => {
  test.each([
    ['eleven characters', 'tjq7w-mzb2x', 'too-short'],
    ['twelve units of six characters', '𝄞'.repeat(6), 'too-short'],
    ['129 characters', `${'abcdefghij'.repeat(12)}xyzuvwqrs`, 'too-long'],
    ['a tab', 'wandering\totters sing', 'character'],
    ['a soft hyphen', 'wandering ot\u00ADters', 'character'],
    ['a joiner outside a word', 'wandering \u200Dotters', 'character'],
    ['a character that means nothing yet', 'wandering otters \u0378', 'character'],
    ['half a character', 'wandering otters \uD834', 'character'],
    ['a letter of conjoining parts', 'wandering otters \u1100', 'character'],
    ['a list', 'qwertyuiop123', 'common'],
    ['a list, in capitals', '1QAZ2WSX3EDC', 'common'],
    ['a common word with digits and a sign', 'Password2026!', 'common'],
    ['a common word in disguise', 'p4$$w0rd!2026', 'common'],
    ['a common word twice', 'dragon-dragon1', 'common'],
    ['only digits', '198503211985', 'common'],
    ['a row of the keyboard', 'asdfghjklzxc', 'common'],
    ['the alphabet backwards', 'zyxwvutsrqpo', 'common'],
    ['one character', 'aaaaaaaaaaaaaaaa', 'common'],
    ['few characters', 'abab-abab-abab', 'common'],
    ['a German classic', 'Passwort!!2026', 'common'],
    ['the own name and a year', 'Lovelace1815', 'personal'],
    ['the own address', 'ada.lovelace@example.com', 'personal'],
  ])('is rejected for %s', (_, password, problem) => {
    expect(checkPassword(password, PERSON)).toBe(problem);
  });

  test.each([
    ['four words', 'correct horse battery staple'],
    ['words without any sign or digit', 'teelichtwanderung'],
    ['twelve random characters', 'tjq7w-mzb2xk'],
    ['128 characters', 'k7 wandering otters sing '.repeat(6).slice(0, 128)],
    ['other scripts', 'σκιουράκι στο δάσος'],
    ['a common word among others', 'my dragon eats purple soup'],
    ['the own name in a sentence', 'when Lovelace met the analytical engine'],
  ])('may be %s', (_, password) => {
    expect(checkPassword(password, PERSON)).toBeNull();
  });

  test('is the same in NFC and NFD, with any space, and other in compatible characters (RFC 8265)', () => {
    expect(preparePassword('cafe\u0301\u3000au lait')).toEqual({ password: 'caf\u00E9 au lait' });
    expect(preparePassword('\uFB01ne')).toEqual({ password: '\uFB01ne' });
  });
});
