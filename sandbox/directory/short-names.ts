import type { Word } from './name-words.ts';

/** Given names that people use for one another: each line is one name's forms. */
const LINES = `
abigail abby gail
alexander alex alec sandy
alexandra alex sandra
andrew andy drew
anthony tony
benjamin ben benny
charles charlie chuck
christine christina chris tina
christopher chris kit
daniel dan danny
david dave davy
deborah debbie deb
donald don donny
edward ed eddie ted ned
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

const FORMS = LINES.trim()
  .split('\n')
  .map((line) => new Set(line.split(' ')));

export function areShortForms(one: Word, other: Word): boolean {
  return FORMS.some((forms) => one.some((word) => forms.has(word)) && other.some((word) => forms.has(word)));
}
