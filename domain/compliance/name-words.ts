import anyAscii from 'any-ascii';

/** A word of a name, in the letters a to z and digits. */
export interface NameWord {
  readonly text: string;
  /** The same for spellings that transcriptions do not distinguish: `Qadhafi` and `Gaddafi`. */
  readonly sound: string;
  /** A second transcription: Đurić is `duric` and `djuric`. Null for most words. */
  readonly also: Pick<NameWord, 'text' | 'sound'> | null;
  /** How much the word says about whose name it is. */
  readonly weight: number;
}

const WEIGHT = { name: 1, initial: 0.4, generic: 0.4, particle: 0.2 } as const;

/** Titles and legal forms say nothing about whose name it is. */
const IGNORED = wordSet(`
  mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend hon esq herr frau monsieur madame mme senor senora don dona
  general gen colonel col major maj captain capt lieutenant lt marshal admiral sheikh shaikh shaykh sheik haji hajji hadji mullah mawlawi
  maulavi ayatollah imam sayyid sayed seyed
  limited ltd company co corporation corp incorporated inc plc llc llp lp jsc ojsc pjsc cjsc zao oao ooo pao ao tov
  gmbh ag kg ohg ug se sa sas sarl srl spa bv nv vof ab as asa oy oyj aps kft zrt doo ead eood sro pte pty pvt bhd sdn fze fzc fzco fzllc
  ltda cv
  the and of for y et und`);

const PARTICLES = wordSet(
  'al el ul ad an ar as at az bin ibn bint ben abu umm von van der den ter de del della la le los las di da do dos das du',
);

const GENERIC = wordSet(`
  bank group holding holdings trading trade shipping maritime marine mining minerals construction engineering industry industries industrial
  international global national general services service logistics transport insurance investment investments finance financial fund
  relief foundation import export commercial enterprise enterprises development management production products technology technologies
  cargo airlines airways food abdul abd`);

/** Legal forms of several words, which would otherwise leave words behind. */
const PHRASES =
  /\b(joint stock company|public limited company|open joint stock company|limited liability company|sa de cv)\b/g;

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/**
 * The words of a name in any script. Titles and legal forms are left out, unless nothing else is left. Every script is
 * written in Latin letters, so that a name finds its transcription.
 */
export function wordsOfName(name: string): NameWord[] {
  const texts = latinWords(name);
  // Serbian transcribes đ as dj, Vietnamese as d. Nothing else is transcribed in two ways.
  const others = /đ/iu.test(name) ? latinWords(name.replaceAll('đ', 'dj').replaceAll('Đ', 'Dj')) : texts;
  const both = texts.map((text, at) => ({ text, other: others.length === texts.length ? (others[at] ?? text) : text }));
  const distinctive = both.filter(({ text }) => !IGNORED.has(text));
  return (distinctive.length === 0 ? both : distinctive).map(({ text, other }) => ({
    text,
    sound: soundOf(text),
    also: other === text ? null : { text: other, sound: soundOf(other) },
    weight: weightOf(text),
  }));
}

/** In the letters a to z and digits. */
function latinWords(name: string): string[] {
  const latin = anyAscii(name.normalize('NFKC').replaceAll(/['’‘`´ʼʹ]/g, ''))
    .toLowerCase()
    .replaceAll(/['`"]/g, '')
    .replaceAll(/&/g, ' and ');
  const initialed = latin.replaceAll(/\b((?:[a-z]\.){2,})(?=\s*$|\s)/g, (letters) =>
    IGNORED.has(letters.replaceAll('.', '')) ? letters.replaceAll('.', '') : letters,
  );
  const text = initialed.replaceAll(/[^a-z0-9]+/g, ' ').replaceAll(PHRASES, ' ');
  return text.split(' ').filter((word) => word !== '');
}

function weightOf(text: string): number {
  if (PARTICLES.has(text)) return WEIGHT.particle;
  if (GENERIC.has(text)) return WEIGHT.generic;
  return text.length === 1 ? WEIGHT.initial : WEIGHT.name;
}

/** Sounds with several spellings in transcriptions from Arabic, Persian, Cyrillic, Korean and German. Applied in this order. */
const SPELLINGS: ReadonlyArray<readonly [from: RegExp, to: string]> = [
  [/^ye(?=[a-z])/g, 'e'],
  [/tch|tsch|zh|dj|ch/g, 'j'],
  [/kh|gh|ck|q|g/g, 'k'],
  [/x/g, 'ks'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/ph/g, 'f'],
  [/th/g, 't'],
  [/dh/g, 'd'],
  [/sch|shch|sh/g, 's'],
  [/ee|ei|ey|iy|yi|ij|ii|ie/g, 'i'],
  [/ae/g, 'a'],
  [/oe|oo|ou|ue|uu/g, 'u'],
  [/w/g, 'v'],
  [/[ey]/g, 'i'],
  [/o/g, 'u'],
  [/(?<=[aeiou])h$/g, ''],
  [/(.)\1+/g, '$1'],
];

export function soundOf(text: string): string {
  return SPELLINGS.reduce((word, [from, to]) => word.replaceAll(from, to), text);
}
