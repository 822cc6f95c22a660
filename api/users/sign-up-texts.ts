/** Texts of the sign-up pages, in each of their languages. */
export const LANGUAGES = ['en', 'de', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A page with a message only. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}

export interface SignUpTexts {
  readonly title: string;
  readonly greeting: (name: string) => string;
  readonly invited: string;
  readonly address: string;
  readonly password: string;
  readonly passwordHint: string;
  readonly accept: string;
  readonly reject: string;
  readonly rejectHint: string;
  readonly until: (date: string) => string;
  readonly problem: string;
  readonly problems: Readonly<
    Record<'too-short' | 'too-long' | 'character' | 'common' | 'personal' | 'choice', string>
  >;
  readonly reset: ResetTexts;
  readonly notices: Readonly<Record<NoticeName, Notice>>;
}

export type NoticeName =
  | 'accepted'
  | 'rejected'
  | 'used'
  | 'cancelled'
  | 'expired'
  | 'unknown'
  | 'unavailable'
  | 'password-set'
  | 'password-used'
  | 'password-cancelled'
  | 'password-expired';

/** Texts that differ if the link is for a new password. */
interface ResetTexts {
  readonly title: string;
  readonly asked: string;
  readonly save: string;
}

const ENGLISH: SignUpTexts = {
  title: 'Your invitation',
  greeting: (name) => `Hello ${name}`,
  invited: 'You have been invited to act for:',
  address: 'Your e-mail address',
  password: 'New password',
  passwordHint: 'At least 12 characters. A few words in a row are good; a common password is not.',
  accept: 'Accept the invitation',
  reject: 'Reject the invitation',
  rejectHint: 'Not you, or not what you want?',
  until: (date) => `This link is valid until ${date} (UTC) and works once.`,
  problem: 'Please correct this:',
  problems: {
    'too-short': 'The password needs at least 12 characters.',
    'too-long': 'The password may have at most 128 characters.',
    character: 'The password has an invisible character, such as a tab or part of a composed emoji.',
    common: 'This password is common and easy to guess. Please choose another.',
    personal: 'The password is too close to your name or address. Please choose another.',
    choice: 'Please accept or reject the invitation.',
  },
  reset: {
    title: 'Your new password',
    asked: 'Please choose a new password. Until then the old one works.',
    save: 'Save the new password',
  },
  notices: {
    accepted: { title: 'Invitation accepted', text: 'You are signed up. You can close this page.' },
    rejected: { title: 'Invitation rejected', text: 'Nothing was set up. You can close this page.' },
    used: {
      title: 'This link has already been used',
      text: 'The invitation has already been answered. The link works only once.',
    },
    cancelled: { title: 'The invitation was withdrawn', text: 'The person who invited you has cancelled it.' },
    expired: { title: 'The invitation has expired', text: 'It was valid for seven days. Please ask for a new one.' },
    unknown: {
      title: 'This link is not valid',
      text: 'Please open it again from the e-mail, complete and unchanged.',
    },
    unavailable: { title: 'Please try again', text: 'The service is temporarily unavailable. Nothing was changed.' },
    'password-set': { title: 'Password saved', text: 'Your new password works from now on. You can close this page.' },
    'password-used': {
      title: 'This link has already been used',
      text: 'A new password has already been set with it. The link works only once.',
    },
    'password-cancelled': {
      title: 'This link no longer works',
      text: 'Please use the newest e-mail, or ask for another.',
    },
    'password-expired': { title: 'This link is too old', text: 'It was valid for an hour. Please ask for a new one.' },
  },
};

const GERMAN: SignUpTexts = {
  title: 'Ihre Einladung',
  greeting: (name) => `Guten Tag ${name}`,
  invited: 'Sie wurden eingeladen, zu handeln für:',
  address: 'Ihre E-Mail-Adresse',
  password: 'Neues Passwort',
  passwordHint: 'Mindestens 12 Zeichen. Einige Wörter hintereinander sind gut, ein verbreitetes Passwort nicht.',
  accept: 'Einladung annehmen',
  reject: 'Einladung ablehnen',
  rejectHint: 'Nicht für Sie, oder nicht gewünscht?',
  until: (date) => `Dieser Link gilt bis ${date} (UTC) und nur einmal.`,
  problem: 'Bitte sehen Sie sich das noch einmal an:',
  problems: {
    'too-short': 'Das Passwort braucht mindestens 12 Zeichen.',
    'too-long': 'Das Passwort darf höchstens 128 Zeichen haben.',
    character:
      'Das Passwort hat ein unsichtbares Zeichen, etwa einen Tabulator oder den Teil eines zusammengesetzten Bildes.',
    common: 'Dieses Passwort ist verbreitet und wird früh erraten. Bitte wählen Sie ein anderes.',
    personal: 'Das Passwort ist Ihrem Namen oder Ihrer Adresse zu ähnlich. Bitte wählen Sie ein anderes.',
    choice: 'Bitte nehmen Sie die Einladung an oder lehnen Sie sie ab.',
  },
  reset: {
    title: 'Ihr neues Passwort',
    asked: 'Bitte wählen Sie ein neues Passwort. Bis dahin gilt das alte.',
    save: 'Neues Passwort speichern',
  },
  notices: {
    accepted: { title: 'Einladung angenommen', text: 'Sie sind angemeldet. Sie können diese Seite schließen.' },
    rejected: { title: 'Einladung abgelehnt', text: 'Es wurde nichts eingerichtet. Sie können diese Seite schließen.' },
    used: { title: 'Dieser Link wurde benutzt', text: 'Die Einladung ist schon beantwortet. Er gilt nur einmal.' },
    cancelled: { title: 'Die Einladung wurde zurückgezogen', text: 'Wer Sie eingeladen hat, hat sie zurückgenommen.' },
    expired: {
      title: 'Die Einladung ist abgelaufen',
      text: 'Sie galt sieben Tage. Bitte lassen Sie sich neu einladen.',
    },
    unknown: {
      title: 'Dieser Link ist ungültig',
      text: 'Bitte öffnen Sie ihn noch einmal aus der E-Mail, ganz und unverändert.',
    },
    unavailable: {
      title: 'Bitte versuchen Sie es noch einmal',
      text: 'Der Dienst kann gerade nicht antworten. Es wurde nichts geändert.',
    },
    'password-set': {
      title: 'Passwort gespeichert',
      text: 'Ab jetzt gilt das neue Passwort. Sie können diese Seite schließen.',
    },
    'password-used': {
      title: 'Dieser Link wurde benutzt',
      text: 'Mit ihm wurde schon ein Passwort gesetzt. Er gilt nur einmal.',
    },
    'password-cancelled': {
      title: 'Dieser Link gilt nicht mehr',
      text: 'Bitte nehmen Sie die neueste E-Mail, oder fordern Sie eine an.',
    },
    'password-expired': {
      title: 'Dieser Link ist zu alt',
      text: 'Er galt eine Stunde. Bitte fordern Sie einen neuen an.',
    },
  },
};

const FRENCH: SignUpTexts = {
  title: 'Votre invitation',
  greeting: (name) => `Bonjour ${name}`,
  invited: 'Vous êtes invité(e) à agir pour :',
  address: 'Votre adresse e-mail',
  password: 'Nouveau mot de passe',
  passwordHint: 'Au moins 12 caractères. Quelques mots à la suite conviennent, un mot de passe courant non.',
  accept: 'Accepter l’invitation',
  reject: 'Refuser l’invitation',
  rejectHint: 'Ce n’est pas vous, ou vous ne le souhaitez pas ?',
  until: (date) => `Ce lien est valable jusqu’au ${date} (UTC), une seule fois.`,
  problem: 'Veuillez revoir ceci :',
  problems: {
    'too-short': 'Le mot de passe doit avoir au moins 12 caractères.',
    'too-long': 'Le mot de passe peut avoir au plus 128 caractères.',
    character:
      'Le mot de passe contient un caractère invisible, comme une tabulation ou une partie d’une image composée.',
    common: 'Ce mot de passe est courant et vite deviné. Veuillez en choisir un autre.',
    personal: 'Le mot de passe ressemble trop à votre nom ou à votre adresse. Veuillez en choisir un autre.',
    choice: 'Veuillez accepter ou refuser l’invitation.',
  },
  reset: {
    title: 'Votre nouveau mot de passe',
    asked: 'Veuillez choisir un nouveau mot de passe. D’ici là, l’ancien reste valable.',
    save: 'Enregistrer le mot de passe',
  },
  notices: {
    accepted: { title: 'Invitation acceptée', text: 'Vous êtes inscrit(e). Vous pouvez fermer cette page.' },
    rejected: { title: 'Invitation refusée', text: 'Rien n’a été créé. Vous pouvez fermer cette page.' },
    used: { title: 'Ce lien a déjà servi', text: 'L’invitation a reçu sa réponse. Il ne fonctionne qu’une fois.' },
    cancelled: { title: 'L’invitation a été retirée', text: 'La personne qui vous a invité(e) l’a annulée.' },
    expired: { title: 'L’invitation a expiré', text: 'Elle valait sept jours. Veuillez en demander une nouvelle.' },
    unknown: { title: 'Ce lien n’est pas valable', text: 'Veuillez le rouvrir depuis l’e-mail, entier et inchangé.' },
    unavailable: { title: 'Veuillez réessayer', text: 'Le service ne peut pas répondre. Rien n’a été modifié.' },
    'password-set': {
      title: 'Mot de passe enregistré',
      text: 'Il est valable dès maintenant. Vous pouvez fermer cette page.',
    },
    'password-used': {
      title: 'Ce lien a déjà servi',
      text: 'Un mot de passe a été choisi avec lui. Il ne fonctionne qu’une fois.',
    },
    'password-cancelled': {
      title: 'Ce lien n’est plus valable',
      text: 'Veuillez prendre l’e-mail le plus récent, ou en demander un autre.',
    },
    'password-expired': {
      title: 'Ce lien est trop ancien',
      text: 'Il valait une heure. Veuillez en demander un nouveau.',
    },
  },
};

export const SIGN_UP_TEXTS: Readonly<Record<Language, SignUpTexts>> = { en: ENGLISH, de: GERMAN, fr: FRENCH };

/** The supported language that Accept-Language (RFC 9110 §12.5.4) prefers; English if none. */
export function preferredLanguage(header: string | undefined): Language {
  let best: { language: Language; quality: number } = { language: 'en', quality: 0 };
  for (const part of (header ?? '').slice(0, 500).split(',')) {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const language = LANGUAGES.find((known) => range === known || range.startsWith(`${known}-`));
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    const quality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    if (language !== undefined && quality > best.quality) best = { language, quality };
  }
  return best.language;
}
