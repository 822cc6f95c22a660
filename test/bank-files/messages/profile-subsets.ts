import { SaxesParser } from 'saxes';

/**
 * What the banks' own guidelines leave of pain.001, as facts of ours: the EPC's customer-to-bank guidelines (SEPA, and the German
 * banks' subset of it), the British practice and CGI's for cross-border payments. A file may have no element that is not listed.
 */
interface Subset {
  /** Elements with text, from `CstmrCdtTrfInitn`, apart from those of every profile. */
  readonly allowed: readonly string[];
  readonly required: readonly string[];
  readonly rules: readonly (readonly [path: RegExp, holds: (text: string, attributes: string) => boolean])[];
}

interface Leaf {
  readonly path: string;
  readonly text: string;
  readonly currency: string;
}

const [BATCH, PAYMENT] = ['PmtInf', 'PmtInf/CdtTrfTxInf'];
const HEAD = ['MsgId', 'CreDtTm', 'NbOfTxs', 'CtrlSum', 'InitgPty/Nm', 'InitgPty/Id/OrgId/Othr/Id'].map(
  (name) => `GrpHdr/${name}`,
);
const OF_EVERY_PROFILE = [
  ...HEAD,
  ...['PmtInfId', 'PmtMtd', 'BtchBookg', 'NbOfTxs', 'CtrlSum', 'PmtTpInf/SvcLvl/Cd', 'Dbtr/Nm', 'ChrgBr'].map(
    (name) => `${BATCH}/${name}`,
  ),
  ...['PmtId/InstrId', 'PmtId/EndToEndId', 'Amt/InstdAmt', 'UltmtDbtr/Nm', 'Cdtr/Nm', 'Purp/Cd', 'RmtInf/Ustrd'].map(
    (name) => `${PAYMENT}/${name}`,
  ),
];
const STRUCTURED = ['StrtNm', 'BldgNb', 'Room', 'PstCd', 'TwnNm', 'CtrySubDvsn', 'Ctry'];
const HYBRID = ['PstCd', 'TwnNm', 'CtrySubDvsn', 'Ctry', 'AdrLine'];
const address = (names: readonly string[]) => names.map((name) => `${PAYMENT}/Cdtr/PstlAdr/${name}`);

const EPC: Subset = {
  allowed: [
    'PmtInf/PmtTpInf/LclInstrm/Cd',
    'PmtInf/ReqdExctnDt/Dt',
    'PmtInf/DbtrAcct/Id/IBAN',
    'PmtInf/DbtrAgt/FinInstnId/BICFI',
    'PmtInf/DbtrAgt/FinInstnId/Othr/Id',
    'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/BICFI',
    'PmtInf/CdtTrfTxInf/CdtrAcct/Id/IBAN',
    ...address(STRUCTURED),
  ],
  required: ['PmtInf/DbtrAcct/Id/IBAN', 'PmtInf/CdtTrfTxInf/CdtrAcct/Id/IBAN', 'PmtInf/CdtTrfTxInf/Cdtr/Nm'],
  rules: [
    [
      /Amt\/InstdAmt$/,
      (amount, currency) => currency === 'EUR' && /^\d{1,9}\.\d{2}$/.test(amount) && amount !== '0.00',
    ],
    [/\/Nm$/, (name) => name.length <= 70],
    [/SvcLvl\/Cd$/, (code) => code === 'SEPA' || code === 'URGP'],
    [/LclInstrm\/Cd$/, (code) => code === 'INST'],
    [/ChrgBr$/, (bearer) => bearer === 'SLEV' || bearer === 'SHAR'],
    [/Othr\/Id$/, (id) => id === 'NOTPROVIDED' || id === 'SENDER-1'],
  ],
};

const SUBSETS: Readonly<Record<string, Subset>> = {
  sepa: EPC,
  'de-gbic': EPC,
  uk: {
    allowed: [
      'PmtInf/ReqdExctnDt/Dt',
      'PmtInf/DbtrAcct/Id/Othr/Id',
      'PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd',
      'PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId',
      'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd',
      'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/Othr/Id',
      ...address(STRUCTURED),
    ],
    required: [
      'PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId',
      'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/Othr/Id',
    ],
    rules: [
      [/InstdAmt$/, (_amount, currency) => currency === 'GBP'],
      [/MmbId$/, (sortCode) => /^\d{6}$/.test(sortCode)],
      [/Acct\/Id\/Othr\/Id$/, (number) => /^\d{8}$/.test(number)],
      [/ClrSysId\/Cd$/, (code) => code === 'GBDSC'],
    ],
  },
  'swift-cgi': {
    allowed: [
      'PmtInf/ReqdExctnDt/Dt',
      'PmtInf/DbtrAcct/Id/IBAN',
      'PmtInf/DbtrAgt/FinInstnId/BICFI',
      'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/BICFI',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/IBAN',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/Othr/Id',
      ...address(HYBRID),
    ],
    required: ['PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/BICFI'],
    rules: [[/BICFI$/, (bic) => /^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(bic)]],
  },
  'swift-cgi-03': {
    allowed: [
      'PmtInf/ReqdExctnDt',
      'PmtInf/DbtrAcct/Id/IBAN',
      'PmtInf/DbtrAgt/FinInstnId/BIC',
      'PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/BIC',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/IBAN',
      'PmtInf/CdtTrfTxInf/CdtrAcct/Id/Othr/Id',
    ],
    required: ['PmtInf/CdtTrfTxInf/CdtrAgt/FinInstnId/BIC'],
    rules: [],
  },
};
export const PROFILES_WITH_SUBSETS = Object.keys(SUBSETS);

const TEXT = /^[A-Za-z0-9/\-?:().,'+ ]+$/;

/** What in a pain.001 the banks of the profile would not take. */
export function subsetBreaches(file: Buffer, code: string): string[] {
  const subset = SUBSETS[code];
  if (subset === undefined) throw new Error(`no subset of ${code}`);
  const leaves = leavesOf(file);
  const allowed = new Set([...OF_EVERY_PROFILE, ...subset.allowed]);
  const payments = leaves.filter(({ path }) => path === `${PAYMENT}/PmtId/EndToEndId`).length;
  const batches = leaves.filter(({ path }) => path === `${BATCH}/PmtInfId`).length;
  return [
    ...leaves.filter(({ path }) => !allowed.has(path)).map(({ path }) => `${path} is not in the subset`),
    ...leaves.filter(({ text }) => !TEXT.test(text)).map(({ path }) => `${path} has other characters`),
    ...leaves.flatMap(({ path, text, currency }) =>
      subset.rules.flatMap(([of, holds]) => (of.test(path) && !holds(text, currency) ? [`${path} is ${text}`] : [])),
    ),
    ...subset.required.flatMap((path) => {
      const wanted = path.startsWith(PAYMENT) ? payments : batches;
      const found = leaves.filter((leaf) => leaf.path === path).length;
      return found === wanted ? [] : [`${path} is there ${found} times, not ${wanted}`];
    }),
  ];
}

/** Every element with text, by its path below the message. */
export function leavesOf(file: Buffer): Leaf[] {
  const parser = new SaxesParser();
  const leaves: Leaf[] = [];
  const open: { name: string; text: string; currency: string; isLeaf: boolean }[] = [];
  parser.on('opentag', ({ name, attributes }) => {
    const parent = open.at(-1);
    if (parent !== undefined) parent.isLeaf = false;
    open.push({ name, text: '', currency: String(attributes.Ccy ?? ''), isLeaf: true });
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  });
  parser.on('closetag', () => {
    const element = open.at(-1);
    const path = open
      .slice(2)
      .map(({ name }) => name)
      .join('/');
    if (element?.isLeaf === true) leaves.push({ path, text: element.text, currency: element.currency });
    open.pop();
  });
  parser.write(file.toString('utf8')).close();
  return leaves;
}
