import type { Word } from './name-words.ts';

/** Interchangeable given names: each line has one name's short forms and spellings. */
const LINES = `
abigail abby gail
alexander alex alec sandy
alexandra alex sandra
andrew andy drew
anthony tony
benjamin ben benny
carl karl
charles charlie chuck
christine christina chris tina
christopher chris kit
daniel dan danny
david dave davy
deborah debbie deb
donald don donny
edward ed eddie ted ned
eric erik
elizabeth liz lizzie beth betty libby eliza
francis frank
frederick fred freddie
geoffrey jeffrey geoff jeff
gregory greg
henry harry hal
jacqueline jackie
james jim jimmy jamie
jennifer jen jenny
john jon johnny jack
jonathan jon jonny
joseph joe joey
joshua josh
katherine catherine kathryn kate katie cathy kathy kat
kenneth ken kenny
lawrence laurence larry
leonard len lenny
marc mark
margaret maggie meg peggy
matthew matt
michael mike mick micky
mohammed muhammad mohamed mohammad
nicholas nick nicky
nicola nicky
patricia pat trish
patrick pat paddy
peter pete
philip phillip phil
raymond ray
rebecca becky
richard dick rick ricky rich
robert bob bobby rob robbie
ronald ron ronnie
samantha sam
sara sarah
samuel sam
stephen steven steve
susan suzanne sue susie
terence terry
teresa theresa terry tess
thomas tom tommy
timothy tim
victoria vicky tori
william bill billy will liam
zachary zach
`;

/** More given names, including some that are also family names: in another order they name other people. */
const OTHERS = `
aaron adam adrian agnes ahmed alan albert ali alice allan amy ana andrea angela ann anna anne arthur barbara brian carl carla
carlos carol caroline catherine chen claire clara clive colin craig dean dennis diana diego dominic dorothy douglas dylan
eleanor elena ellen emily emma eric erik eva evan fatima felix fiona fernando florence gabriel george gerald gordon grace
graham grant hannah harold hassan hans heather helen hugh hugo hussein ian ibrahim imran iris isaac ivan jack jackson jane
janet jason jean jordan jose joyce juan judith julia julian julie karen karl kaur keith kelly kevin khalid kim laura lee leon leslie
lewis li lily linda lionel louis louise lucas lucy luis luke luca manuel marc marcus maria marie mario mark martin mary maurice max
maya miguel miriam mohamed morgan mustafa na nadia nancy naomi neil nigel noah noel norman oliver omar oscar pablo pamela paul
paula pedro philippa pierre rachel ralph reginald rita rosa rose ross roy russell ruth ryan sara sarah scott sean sebastian
sharon simon singh sofia sophie stuart stanley stella taylor theodore theo tracy trevor valerie vera vernon vincent walter warren
wayne wei wendy wilfred yusuf yvonne zoe
`;

const FORMS = LINES.trim()
  .split('\n')
  .map((line) => new Set(line.split(' ')));
const GIVEN_NAMES = new Set(`${LINES} ${OTHERS}`.trim().split(/\s+/));

export function areShortForms(one: Word, other: Word): boolean {
  const isIn = (word: Word, forms: ReadonlySet<string>) => word.spellings.some((spelling) => forms.has(spelling));
  return FORMS.some((forms) => isIn(one, forms) && isIn(other, forms));
}

export function isGivenName({ spellings }: Word): boolean {
  return spellings.some((spelling) => GIVEN_NAMES.has(spelling));
}
