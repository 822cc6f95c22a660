import { countrySpecs } from 'ibantools';
import { describe, expect, test } from 'vitest';
import { checkDigits97 } from '../../common/numbers/check-digits.ts';
import { accountPart, CORRECTIONS, isIban, normalIban } from './ibans.ts';

/** Every row of the SWIFT IBAN registry, release 101: its example and the structure after country and check digits. */
const REGISTRY: readonly (readonly [example: string, structure: string])[] = [
  ['AD1200012030200359100100', '4!n4!n12!c'],
  ['AE070331234567890123456', '3!n16!n'],
  ['AL47212110090000000235698741', '8!n16!c'],
  ['AT611904300234573201', '5!n11!n'],
  ['AZ21NABZ00000000137010001944', '4!a20!c'],
  ['BA391290079401028494', '3!n3!n8!n2!n'],
  ['BE68539007547034', '3!n7!n2!n'],
  ['BG80BNBG96611020345678', '4!a4!n2!n8!c'],
  ['BH67BMAG00001299123456', '4!a14!c'],
  ['BI4210000100010000332045181', '5!n5!n11!n2!n'],
  ['BR1800360305000010009795493C1', '8!n5!n10!n1!a1!c'],
  ['BY13NBRB3600900000002Z00AB00', '4!c4!n16!c'],
  ['CH9300762011623852957', '5!n12!c'],
  ['CR05015202001026284066', '4!n14!n'],
  ['CY17002001280000001200527600', '3!n5!n16!c'],
  ['CZ6508000000192000145399', '4!n16!n'],
  ['DE89370400440532013000', '8!n10!n'],
  ['DJ2100010000000154000100186', '5!n5!n11!n2!n'],
  ['DK5000400440116243', '4!n9!n1!n'],
  ['DO28BAGR00000001212453611324', '4!c20!n'],
  ['EE382200221020145685', '2!n14!n'],
  ['EG380019000500000000263180002', '4!n4!n17!n'],
  ['ES9121000418450200051332', '4!n4!n1!n1!n10!n'],
  ['FI2112345600000785', '3!n11!n'],
  ['FK88SC123456789012', '2!a12!n'],
  ['FO6264600001631634', '4!n9!n1!n'],
  ['FR1420041010050500013M02606', '5!n5!n11!c2!n'],
  ['GB29NWBK60161331926819', '4!a6!n8!n'],
  ['GE29NB0000000101904917', '2!a16!n'],
  ['GI75NWBK000000007099453', '4!a15!c'],
  ['GL8964710001000206', '4!n9!n1!n'],
  ['GR1601101250000000012300695', '3!n4!n16!c'],
  ['GT82TRAJ01020000001210029690', '4!c20!c'],
  ['HN88CABF00000000000250005469', '4!a20!n'],
  ['HR1210010051863000160', '7!n10!n'],
  ['HU42117730161111101800000000', '3!n4!n1!n15!n1!n'],
  ['IE29AIBK93115212345678', '4!a6!n8!n'],
  ['IL620108000000099999999', '3!n3!n13!n'],
  ['IQ98NBIQ850123456789012', '4!a3!n12!n'],
  ['IS140159260076545510730339', '4!n2!n6!n10!n'],
  ['IT60X0542811101000000123456', '1!a5!n5!n12!c'],
  ['JO94CBJO0010000000000131000302', '4!a4!n18!c'],
  ['KW81CBKU0000000000001234560101', '4!a22!c'],
  ['KZ86125KZT5004100100', '3!n13!c'],
  ['LB62099900000001001901229114', '4!n20!c'],
  ['LC55HEMM000100010012001200023015', '4!a24!c'],
  ['LI21088100002324013AA', '5!n12!c'],
  ['LT121000011101001000', '5!n11!n'],
  ['LU280019400644750000', '3!n13!c'],
  ['LV80BANK0000435195001', '4!a13!c'],
  ['LY83002048000020100120361', '3!n3!n15!n'],
  ['MC5811222000010123456789030', '5!n5!n11!c2!n'],
  ['MD24AG000225100013104168', '2!c18!c'],
  ['ME25505000012345678951', '3!n13!n2!n'],
  ['MK07250120000058984', '3!n10!c2!n'],
  ['MN121234123456789123', '4!n12!n'],
  ['MR1300020001010000123456753', '5!n5!n11!n2!n'],
  ['MT84MALT011000012345MTLCAST001S', '4!a5!n18!c'],
  ['MU17BOMM0101101030300200000MUR', '4!a2!n2!n12!n3!n3!a'],
  ['NI45BAPR00000013000003558124', '4!a20!n'],
  ['NL91ABNA0417164300', '4!a10!n'],
  ['NO9386011117947', '4!n6!n1!n'],
  ['OM810180000001299123456', '3!n16!c'],
  ['PK36SCBL0000001123456702', '4!a16!c'],
  ['PL61109010140000071219812874', '8!n16!n'],
  ['PS92PALS000000000400123456702', '4!a21!c'],
  ['PT50000201231234567890154', '4!n4!n11!n2!n'],
  ['QA58DOHB00001234567890ABCDEFG', '4!a21!c'],
  ['RO49AAAA1B31007593840000', '4!a16!c'],
  ['RS35260005601001611379', '3!n13!n2!n'],
  ['RU0304452522540817810538091310419', '9!n5!n15!c'],
  ['SA0380000000608010167519', '2!n18!c'],
  ['SC18SSCB11010000000000001497USD', '4!a2!n2!n16!n3!a'],
  ['SD2129010501234001', '2!n12!n'],
  ['SE4550000000058398257466', '3!n16!n1!n'],
  ['SI56263300012039086', '5!n8!n2!n'],
  ['SK3112000000198742637541', '4!n6!n10!n'],
  ['SM86U0322509800000000270100', '1!a5!n5!n12!c'],
  ['SO211000001001000100141', '4!n3!n12!n'],
  ['ST23000100010051845310146', '4!n4!n11!n2!n'],
  ['SV62CENR00000000000000700025', '4!a20!n'],
  ['TL380080012345678910157', '3!n14!n2!n'],
  ['TN5910006035183598478831', '2!n3!n13!n2!n'],
  ['TR330006100519786457841326', '5!n1!n16!c'],
  ['UA213223130000026007233566001', '6!n19!c'],
  ['VA59001123000012345678', '3!n15!n'],
  ['VG96VPVG0000012345678901', '4!a16!n'],
  ['XK051212012345678906', '4!n10!n2!n'],
  ['YE15CBYE0001018861234567891234', '4!a4!n18!c'],
];

/** Countries whose central banks agreed on structures without registering them: real numbers of each. */
const UNREGISTERED: readonly (readonly [example: string, structure: string])[] = [
  ['BJ66BJ0610100100144390000769', '2!c22!n'],
  ['BF42BF0840101300463574000390', '2!c22!n'],
  ['CI93CI0080111301134291200589', '2!c22!n'],
  ['ML13ML0160120102600100668497', '2!c22!n'],
];
/** The older form of the West African banks' codes: a letter and four digits. */
const OLDER_FORM = ['CI', 'BF', 'BJ', 'ML'].map((country) => withCheckDigits(country, 'A12312341234123412341234'));

const CHARACTERS: Readonly<Record<string, string>> = { n: '[0-9]', a: '[A-Z]', c: '[0-9A-Z]' };

/** One class of characters per position. */
function positionsOf(structure: string): string[] {
  return [...structure.matchAll(/([0-9]+)!([nac])/g)].flatMap(([, length, kind = '']) =>
    Array.from({ length: Number(length) }, () => CHARACTERS[kind] ?? 'unknown'),
  );
}

function positionsOfPattern(pattern: RegExp | null): string[] {
  const parts = [...(pattern?.source ?? '').matchAll(/(\[[^\]]+\])(?:\{([0-9]+)\})?/g)];
  return parts.flatMap(([, characters = '', length = '1']) =>
    Array.from({ length: Number(length) }, () => (characters === '[A-Z0-9]' ? '[0-9A-Z]' : characters)),
  );
}

function withCheckDigits(country: string, account: string): string {
  const digits = [...`${account}${country}`].map((sign) => String(Number.parseInt(sign, 36))).join('');
  return `${country}${checkDigits97(digits)}${account}`;
}

describe.each([...REGISTRY, ...UNREGISTERED])('%s', (example, structure) => {
  const country = example.slice(0, 2);
  const positions = positionsOf(structure);

  test('is valid, in lower case with spaces too', () => {
    expect(isIban(example)).toBe(true);
    expect(isIban(normalIban(example.toLowerCase().replace(/(.{4})/g, '$1 ')))).toBe(true);
  });

  test('is of exactly the registered structure', () => {
    expect(positionsOfPattern(accountPart(country))).toEqual(positions);
  });

  test('is invalid with any one character changed for another of its kind', () => {
    for (const [at, sign] of [...example].entries()) {
      for (const other of /[0-9]/.test(sign) ? '0123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') {
        if (other === sign) continue;
        const changed = example.slice(0, at) + other + example.slice(at + 1);
        expect(isIban(changed), changed).toBe(false);
      }
    }
  });

  test('is invalid one character shorter or longer, even if the check digits fit', () => {
    const account = example.slice(4);
    for (const other of [account.slice(0, -1), account.slice(1), `${account}0`, `0${account}`]) {
      expect(isIban(withCheckDigits(country, other)), other).toBe(false);
    }
  });

  test('takes letters where the structure has letters, and nowhere else', () => {
    const account = example.slice(4);
    for (const [at, kind] of positions.entries()) {
      const letter = withCheckDigits(country, `${account.slice(0, at)}Q${account.slice(at + 1)}`);
      const digit = withCheckDigits(country, `${account.slice(0, at)}7${account.slice(at + 1)}`);
      expect([isIban(letter), isIban(digit)], letter).toEqual([kind !== '[0-9]', kind !== '[A-Z]']);
    }
  });
});

test.each(OLDER_FORM)('%s, of the older West African form, is valid', (iban) => {
  expect(isIban(iban)).toBe(true);
});

test.each([
  'US29NWBK60161331926819',
  'ＧB29NWBK60161331926819',
  'GB29NWBK6016133192681٩',
  'DE89370400440532013000X',
  'GB',
  '',
  'ZZ00',
  '__proto__',
])('%s is no IBAN', (text) => {
  expect(isIban(text)).toBe(false);
});

test('check digits 00, 01 and 99 are none, although the remainder fits', () => {
  for (const check of ['00', '01', '99']) {
    for (let account = 0; account < 97; account += 1) {
      expect(isIban(`DE${check}3704004405320130${String(account).padStart(2, '0')}`)).toBe(false);
    }
  }
});

test.each(Object.entries(CORRECTIONS))('the library still needs the correction of %s', (country, pattern) => {
  const registered = positionsOfPattern(new RegExp(pattern));
  expect(positionsOfPattern(new RegExp(countrySpecs[country]?.bban_regexp ?? ''))).not.toEqual(registered);
});
