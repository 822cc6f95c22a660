import type { Language } from '../pages/languages.ts';

/** Why a request ends without accounts or a payment. */
export type NoticeName =
  | 'rejected'
  | 'foreign'
  | 'untrusted'
  | 'late'
  | 'over'
  | 'not-asked'
  | 'payment-rejected'
  | 'payment-unsure'
  | 'unavailable'
  | 'failed';

export interface ThirdPartyTexts {
  readonly home: {
    readonly title: string;
    readonly intro: string;
    readonly read: string;
    readonly amount: string;
    readonly amountHint: (payee: string) => string;
    readonly amountProblem: string;
    readonly pay: string;
    readonly hint: string;
  };
  readonly callback: {
    readonly title: string;
    readonly text: string;
    readonly address: string;
    readonly submit: string;
    readonly problem: string;
  };
  readonly accounts: {
    readonly title: string;
    readonly until: string;
    readonly available: (amount: string) => string;
    readonly booked: (amount: string) => string;
    readonly transactions: (account: string) => string;
    readonly thisMonth: string;
    readonly paid: Readonly<Record<'credit' | 'debit', string>>;
    readonly noTransactions: string;
    readonly allAccounts: string;
  };
  readonly payment: {
    readonly title: string;
    readonly text: string;
    readonly amount: string;
    readonly payee: string;
    readonly number: string;
    readonly status: string;
  };
  readonly notices: Readonly<Record<NoticeName, { readonly title: string; readonly text: string }>>;
  readonly again: string;
  readonly tryAgain: string;
}

const ENGLISH: ThirdPartyTexts = {
  home: {
    title: 'What would you like to do?',
    intro: 'Harbour Budget shows your accounts at a glance, and pays from them. Your bank asks you first, each time.',
    read: 'Read my accounts',
    amount: 'Amount in pounds',
    amountHint: (payee) => `Paid to ${payee}.`,
    amountProblem: 'Please enter an amount above zero, such as 12.50.',
    pay: 'Pay',
    hint: 'A fictitious application of the sandbox. Sign in with the e-mail address and the password that the start has printed.',
  },
  callback: {
    title: 'Welcome back',
    text: 'Your answer is in this page’s address, where only your browser sees it. If nothing happens, your browser runs no JavaScript: copy the whole address and paste it here.',
    address: 'Address of this page',
    submit: 'Continue',
    problem: 'This address holds no answer. Please copy all of it, with everything after the #.',
  },
  accounts: {
    title: 'Your accounts',
    until: 'As your bank shows them now.',
    available: (amount) => `Available: ${amount}`,
    booked: (amount) => `Booked: ${amount}`,
    transactions: (account) => `Transactions of ${account}`,
    thisMonth: 'This month, in UTC.',
    paid: { credit: 'Paid in', debit: 'Paid out' },
    noTransactions: 'There have been none.',
    allAccounts: 'All accounts',
  },
  payment: {
    title: 'Your payment is on its way',
    text: 'Your bank has accepted the payment and carries it out.',
    amount: 'Amount',
    payee: 'Payee',
    number: 'Number at the bank',
    status: 'Status when accepted',
  },
  notices: {
    rejected: { title: 'You have rejected', text: 'Nothing was shared, and nothing was paid.' },
    foreign: {
      title: 'This answer belongs to no open request',
      text: 'This browser has not asked for it, or has used the answer already. Nothing was read or paid with it.',
    },
    untrusted: {
      title: 'This answer cannot be trusted',
      text: 'It does not come from your bank as it is. Nothing was read or paid.',
    },
    late: {
      title: 'This answer came too late',
      text: 'An approval must be used within a minute, and once. Nothing was read or paid with it.',
    },
    over: { title: 'Access has ended', text: 'You have withdrawn it, or it has expired. Please ask again.' },
    'not-asked': { title: 'Your bank did not accept the request', text: 'No request was made.' },
    'payment-rejected': { title: 'Your bank has rejected the payment', text: 'Nothing was paid.' },
    'payment-unsure': {
      title: 'Your bank has not answered',
      text: 'Perhaps the payment is on its way. Trying again is safe: it is paid once at most.',
    },
    unavailable: { title: 'Please try again', text: 'Your bank cannot answer right now.' },
    failed: { title: 'Something went wrong', text: 'Harbour Budget could not do this. Please start again.' },
  },
  again: 'Start again',
  tryAgain: 'Try again',
};

const GERMAN: ThirdPartyTexts = {
  home: {
    title: 'Was möchten Sie tun?',
    intro:
      'Harbour Budget zeigt Ihre Konten auf einen Blick und zahlt von ihnen. Ihre Bank fragt Sie jedes Mal zuerst.',
    read: 'Meine Konten lesen',
    amount: 'Betrag in Pfund',
    amountHint: (payee) => `Empfänger: ${payee}.`,
    amountProblem: 'Bitte geben Sie einen Betrag über null ein, etwa 12,50.',
    pay: 'Zahlen',
    hint: 'Eine erfundene Anwendung der Sandbox. Melden Sie sich mit der E-Mail-Adresse und dem Passwort an, die beim Start ausgegeben wurden.',
  },
  callback: {
    title: 'Willkommen zurück',
    text: 'Ihre Antwort steht in der Adresse dieser Seite, wo nur Ihr Browser sie sieht. Falls nichts geschieht, führt Ihr Browser kein JavaScript aus: Kopieren Sie die ganze Adresse und fügen Sie sie hier ein.',
    address: 'Adresse dieser Seite',
    submit: 'Weiter',
    problem: 'Diese Adresse enthält keine Antwort. Bitte kopieren Sie sie ganz, mit allem nach dem #.',
  },
  accounts: {
    title: 'Ihre Konten',
    until: 'So, wie Ihre Bank sie jetzt zeigt.',
    available: (amount) => `Verfügbar: ${amount}`,
    booked: (amount) => `Gebucht: ${amount}`,
    transactions: (account) => `Umsätze von ${account}`,
    thisMonth: 'In diesem Monat (UTC).',
    paid: { credit: 'Eingang', debit: 'Ausgang' },
    noTransactions: 'Es gab keine.',
    allAccounts: 'Alle Konten',
  },
  payment: {
    title: 'Ihre Zahlung ist unterwegs',
    text: 'Ihre Bank hat die Zahlung angenommen und führt sie aus.',
    amount: 'Betrag',
    payee: 'Empfänger',
    number: 'Nummer bei der Bank',
    status: 'Status bei der Annahme',
  },
  notices: {
    rejected: { title: 'Sie haben abgelehnt', text: 'Nichts wurde weitergegeben und nichts gezahlt.' },
    foreign: {
      title: 'Diese Antwort gehört zu keiner offenen Anfrage',
      text: 'Dieser Browser hat nicht danach gefragt oder die Antwort schon benutzt. Mit ihr wurde nichts gelesen oder gezahlt.',
    },
    untrusted: {
      title: 'Dieser Antwort ist nicht zu trauen',
      text: 'So stammt sie nicht von Ihrer Bank. Nichts wurde gelesen oder gezahlt.',
    },
    late: {
      title: 'Diese Antwort kam zu spät',
      text: 'Eine Zustimmung gilt eine Minute lang und nur einmal. Mit ihr wurde nichts gelesen oder gezahlt.',
    },
    over: {
      title: 'Der Zugang ist beendet',
      text: 'Sie haben ihn widerrufen, oder seine Zeit ist vorbei. Bitte fragen Sie neu an.',
    },
    'not-asked': { title: 'Ihre Bank hat die Anfrage nicht angenommen', text: 'Um nichts wurde gebeten.' },
    'payment-rejected': { title: 'Ihre Bank hat die Zahlung abgelehnt', text: 'Nichts wurde gezahlt.' },
    'payment-unsure': {
      title: 'Ihre Bank hat nicht geantwortet',
      text: 'Vielleicht ist die Zahlung unterwegs. Ein neuer Versuch ist sicher: Gezahlt wird höchstens einmal.',
    },
    unavailable: { title: 'Bitte versuchen Sie es noch einmal', text: 'Ihre Bank kann gerade nicht antworten.' },
    failed: { title: 'Etwas ist schiefgegangen', text: 'Das hat nicht geklappt. Bitte beginnen Sie neu.' },
  },
  again: 'Neu beginnen',
  tryAgain: 'Noch einmal versuchen',
};

const FRENCH: ThirdPartyTexts = {
  home: {
    title: 'Que souhaitez-vous faire ?',
    intro:
      'Harbour Budget montre vos comptes d’un coup d’œil et paie depuis ceux-ci. Votre banque vous demande d’abord, à chaque fois.',
    read: 'Lire mes comptes',
    amount: 'Montant en livres',
    amountHint: (payee) => `Payé à ${payee}.`,
    amountProblem: 'Veuillez saisir un montant supérieur à zéro, par exemple 12,50.',
    pay: 'Payer',
    hint: 'Une application fictive du bac à sable. Connectez-vous avec l’adresse e-mail et le mot de passe affichés au démarrage.',
  },
  callback: {
    title: 'Vous revoilà',
    text: 'Votre réponse se trouve dans l’adresse de cette page, que seul votre navigateur voit. Si rien ne se passe, votre navigateur n’exécute pas JavaScript : copiez toute l’adresse et collez-la ici.',
    address: 'Adresse de cette page',
    submit: 'Continuer',
    problem: 'Cette adresse ne contient pas de réponse. Veuillez la copier en entier, avec tout ce qui suit le #.',
  },
  accounts: {
    title: 'Vos comptes',
    until: 'Tels que votre banque les montre maintenant.',
    available: (amount) => `Disponible : ${amount}`,
    booked: (amount) => `Comptabilisé : ${amount}`,
    transactions: (account) => `Opérations de ${account}`,
    thisMonth: 'Ce mois-ci (UTC).',
    paid: { credit: 'Entrée', debit: 'Sortie' },
    noTransactions: 'Il n’y en a pas eu.',
    allAccounts: 'Tous les comptes',
  },
  payment: {
    title: 'Votre paiement est en route',
    text: 'Votre banque a accepté le paiement et l’exécute.',
    amount: 'Montant',
    payee: 'Bénéficiaire',
    number: 'Numéro à la banque',
    status: 'État à l’acceptation',
  },
  notices: {
    rejected: { title: 'Vous avez refusé', text: 'Rien n’a été communiqué et rien n’a été payé.' },
    foreign: {
      title: 'Cette réponse ne correspond à aucune demande ouverte',
      text: 'Ce navigateur ne l’a pas demandée ou s’en est déjà servi. Rien n’a été lu ni payé avec elle.',
    },
    untrusted: {
      title: 'Cette réponse n’est pas fiable',
      text: 'Elle ne vient pas telle quelle de votre banque. Rien n’a été lu ni payé.',
    },
    late: {
      title: 'Cette réponse arrive trop tard',
      text: 'Un accord est valable une minute et une seule fois. Rien n’a été lu ni payé avec lui.',
    },
    over: {
      title: 'L’accès est terminé',
      text: 'Vous l’avez retiré ou il est arrivé à échéance. Veuillez refaire une demande.',
    },
    'not-asked': { title: 'Votre banque n’a pas pris la demande', text: 'Rien n’a été demandé.' },
    'payment-rejected': { title: 'Votre banque a refusé le paiement', text: 'Rien n’a été payé.' },
    'payment-unsure': {
      title: 'Votre banque n’a pas répondu',
      text: 'Le paiement est peut-être en route. Réessayer est sans risque : il est payé une fois au plus.',
    },
    unavailable: { title: 'Veuillez réessayer', text: 'Votre banque ne peut pas répondre pour le moment.' },
    failed: { title: 'Une erreur est survenue', text: 'Cela n’a pas fonctionné. Veuillez recommencer.' },
  },
  again: 'Recommencer',
  tryAgain: 'Réessayer',
};

export const THIRD_PARTY_TEXTS: Readonly<Record<Language, ThirdPartyTexts>> = { en: ENGLISH, de: GERMAN, fr: FRENCH };
