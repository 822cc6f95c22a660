import type { Language } from '../pages/languages.ts';

/** Why there is nothing to answer. */
export type NoticeName = 'answered' | 'expired' | 'unknown' | 'unavailable' | 'failed' | 'nothing';

export type SignInProblem = 'wrong' | 'limited' | 'stale';
export type ConsentProblem = 'choose' | 'choose-one' | 'unusable' | 'stale';

export interface FrontOfficeTexts {
  readonly owner: string;
  readonly signIn: {
    readonly title: string;
    readonly why: (application: string) => string;
    readonly email: string;
    readonly password: string;
    readonly submit: string;
    readonly problems: Readonly<Record<SignInProblem, string>>;
  };
  readonly consent: {
    readonly accountsTitle: (application: string) => string;
    readonly paymentTitle: (application: string, amount: string) => string;
    readonly signedInAs: (name: string) => string;
    readonly signOut: string;
    readonly who: string;
    readonly what: string;
    readonly accountsWhat: string;
    readonly paymentWhat: string;
    readonly amount: string;
    readonly payee: string;
    readonly on: string;
    readonly until: (time: string) => string;
    readonly whichAccounts: string;
    readonly whichAccount: string;
    readonly available: (amount: string) => string;
    readonly noAccount: string;
    readonly approve: string;
    readonly approvePayment: string;
    readonly reject: string;
    readonly problems: Readonly<Record<ConsentProblem, string>>;
  };
  readonly notices: Readonly<Record<NoticeName, { readonly title: string; readonly text: string }>>;
  readonly back: (application: string) => string;
}

const ENGLISH: FrontOfficeTexts = {
  owner: 'Front office',
  signIn: {
    title: 'Sign in to answer',
    why: (application) =>
      `${application} has sent you here with a request. Sign in to see it; nothing happens before you answer.`,
    email: 'E-mail address',
    password: 'Password',
    submit: 'Sign in',
    problems: {
      wrong: 'No user has this e-mail address and this password.',
      limited: 'Too many sign-ins with this address have failed. Please wait 15 minutes.',
      stale: 'This page was open for too long. Please try again.',
    },
  },
  consent: {
    accountsTitle: (application) => `${application} asks to see your accounts`,
    paymentTitle: (application, amount) => `${application} asks to pay ${amount} for you`,
    signedInAs: (name) => `Signed in as ${name}.`,
    signOut: 'Sign out',
    who: 'Who asks',
    what: 'What for',
    accountsWhat:
      'To see balances and transactions of the accounts that you choose, for 90 days. It cannot move money.',
    paymentWhat: 'To make this payment, once, from the account that you choose.',
    amount: 'Amount',
    payee: 'Payee',
    on: 'To be paid on',
    until: (time) => `You can answer until ${time}.`,
    whichAccounts: 'Which accounts?',
    whichAccount: 'From which account?',
    available: (amount) => `Available: ${amount}`,
    noAccount: 'You have no active account that can be used for this.',
    approve: 'Approve',
    approvePayment: 'Approve the payment',
    reject: 'Reject',
    problems: {
      choose: 'Please choose at least one account.',
      'choose-one': 'Please choose one account.',
      unusable: 'This account cannot be used for this at present. Please choose another one, or reject.',
      stale: 'This page was open for too long. Please answer again.',
    },
  },
  notices: {
    answered: { title: 'This request has been answered', text: 'It can be answered only once.' },
    expired: {
      title: 'This request has expired',
      text: 'A request can be answered for ten minutes. Please start again where you came from.',
    },
    unknown: { title: 'There is no such request', text: 'Please start again where you came from.' },
    unavailable: { title: 'Please try again', text: 'The service cannot answer right now.' },
    failed: { title: 'Something went wrong', text: 'The front office could not do this. Please try again.' },
    nothing: { title: 'Nothing to answer', text: 'Applications send you here when they ask for something.' },
  },
  back: (application) => `Back to ${application}`,
};

const GERMAN: FrontOfficeTexts = {
  owner: 'Kundenportal',
  signIn: {
    title: 'Zum Antworten anmelden',
    why: (application) =>
      `${application} hat Sie mit einer Anfrage hierher geschickt. Melden Sie sich an, um sie zu sehen. Ohne Ihre Antwort geschieht nichts.`,
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    submit: 'Anmelden',
    problems: {
      wrong: 'Diese E-Mail-Adresse und dieses Passwort gehören zu keiner Person.',
      limited: 'Zu viele Anmeldungen mit dieser Adresse sind fehlgeschlagen. Bitte warten Sie 15 Minuten.',
      stale: 'Diese Seite war zu lange offen. Bitte versuchen Sie es noch einmal.',
    },
  },
  consent: {
    accountsTitle: (application) => `${application} möchte Ihre Konten sehen`,
    paymentTitle: (application, amount) => `${application} möchte für Sie ${amount} zahlen`,
    signedInAs: (name) => `Angemeldet als ${name}.`,
    signOut: 'Abmelden',
    who: 'Wer fragt',
    what: 'Wofür',
    accountsWhat:
      'Um 90 Tage lang Salden und Umsätze der Konten zu sehen, die Sie auswählen. Geld bewegen kann sie nicht.',
    paymentWhat: 'Um diese Zahlung einmal auszuführen, von dem Konto, das Sie auswählen.',
    amount: 'Betrag',
    payee: 'Empfänger',
    on: 'Zu zahlen am',
    until: (time) => `Sie können bis ${time} antworten.`,
    whichAccounts: 'Welche Konten?',
    whichAccount: 'Von welchem Konto?',
    available: (amount) => `Verfügbar: ${amount}`,
    noAccount: 'Sie haben kein aktives Konto, das dafür in Frage kommt.',
    approve: 'Zustimmen',
    approvePayment: 'Der Zahlung zustimmen',
    reject: 'Ablehnen',
    problems: {
      choose: 'Bitte wählen Sie mindestens ein Konto aus.',
      'choose-one': 'Bitte wählen Sie ein Konto aus.',
      unusable:
        'Dieses Konto lässt sich dafür zurzeit nicht verwenden. Bitte wählen Sie ein anderes oder lehnen Sie ab.',
      stale: 'Diese Seite war zu lange offen. Bitte antworten Sie noch einmal.',
    },
  },
  notices: {
    answered: { title: 'Diese Anfrage ist beantwortet', text: 'Sie lässt sich nur einmal beantworten.' },
    expired: {
      title: 'Diese Anfrage ist zu alt',
      text: 'Eine Anfrage gilt zehn Minuten. Bitte beginnen Sie dort neu, woher Sie gekommen sind.',
    },
    unknown: { title: 'Diese Anfrage gibt es nicht', text: 'Bitte beginnen Sie dort neu, woher Sie gekommen sind.' },
    unavailable: { title: 'Bitte versuchen Sie es noch einmal', text: 'Der Dienst kann gerade nicht antworten.' },
    failed: { title: 'Etwas ist schiefgegangen', text: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.' },
    nothing: {
      title: 'Nichts zu beantworten',
      text: 'Anwendungen schicken Sie hierher, wenn sie um etwas bitten.',
    },
  },
  back: (application) => `Zurück zu ${application}`,
};

const FRENCH: FrontOfficeTexts = {
  owner: 'Espace client',
  signIn: {
    title: 'Connectez-vous pour répondre',
    why: (application) =>
      `${application} vous a envoyé(e) ici avec une demande. Connectez-vous pour la voir ; rien ne se passe avant votre réponse.`,
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    submit: 'Se connecter',
    problems: {
      wrong: 'Cette adresse e-mail et ce mot de passe ne correspondent à personne.',
      limited: 'Trop de connexions avec cette adresse ont échoué. Veuillez attendre 15 minutes.',
      stale: 'Cette page est restée ouverte trop longtemps. Veuillez réessayer.',
    },
  },
  consent: {
    accountsTitle: (application) => `${application} demande à voir vos comptes`,
    paymentTitle: (application, amount) => `${application} demande à payer ${amount} pour vous`,
    signedInAs: (name) => `Connecté(e) en tant que ${name}.`,
    signOut: 'Se déconnecter',
    who: 'Qui demande',
    what: 'Dans quel but',
    accountsWhat:
      'Pour voir pendant 90 jours les soldes et les opérations des comptes que vous choisissez, sans pouvoir déplacer d’argent.',
    paymentWhat: 'Pour effectuer ce paiement une seule fois, depuis le compte que vous choisissez.',
    amount: 'Montant',
    payee: 'Bénéficiaire',
    on: 'À payer le',
    until: (time) => `Vous pouvez répondre jusqu’au ${time}.`,
    whichAccounts: 'Quels comptes ?',
    whichAccount: 'Depuis quel compte ?',
    available: (amount) => `Disponible : ${amount}`,
    noAccount: 'Vous n’avez aucun compte actif qui convienne.',
    approve: 'Accepter',
    approvePayment: 'Accepter le paiement',
    reject: 'Refuser',
    problems: {
      choose: 'Veuillez choisir au moins un compte.',
      'choose-one': 'Veuillez choisir un compte.',
      unusable: 'Ce compte ne peut pas servir actuellement. Veuillez en choisir un autre ou refuser.',
      stale: 'Cette page est restée ouverte trop longtemps. Veuillez répondre à nouveau.',
    },
  },
  notices: {
    answered: { title: 'Cette demande a reçu sa réponse', text: 'On ne peut y répondre qu’une fois.' },
    expired: {
      title: 'Cette demande est trop ancienne',
      text: 'Une demande vaut dix minutes. Veuillez recommencer là d’où vous venez.',
    },
    unknown: { title: 'Cette demande n’existe pas', text: 'Veuillez recommencer là d’où vous venez.' },
    unavailable: { title: 'Veuillez réessayer', text: 'Le service ne peut pas répondre pour le moment.' },
    failed: { title: 'Une erreur est survenue', text: 'Cela n’a pas fonctionné. Veuillez réessayer.' },
    nothing: {
      title: 'Rien à répondre',
      text: 'Les applications vous envoient ici lorsqu’elles demandent quelque chose.',
    },
  },
  back: (application) => `Retour à ${application}`,
};

export const FRONT_OFFICE_TEXTS: Readonly<Record<Language, FrontOfficeTexts>> = {
  en: ENGLISH,
  de: GERMAN,
  fr: FRENCH,
};
