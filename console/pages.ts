import { accountList } from './accounts/list.tsx';
import { accountPage } from './accounts/page.tsx';
import { ACCOUNT_REMEDIES } from './accounts/remedies.ts';
import { statementPage } from './accounts/statement.tsx';
import { remedyListList, remedyListPage } from './approvals/list-page.tsx';
import { REMEDY_LIST_REMEDIES } from './approvals/list-remedies.ts';
import { forAllOutgoingTransfers } from './approvals/outgoing-transfers.ts';
import { approvalsPage } from './approvals/page.tsx';
import { auditList } from './audit-entries/list.tsx';
import { bankFileList } from './bank-files/list.tsx';
import { bankFilePage } from './bank-files/page.tsx';
import { BRING_REMEDIES, FILE_REMEDIES } from './bank-files/remedies.ts';
import { heldPaymentList, requestList, requestPage } from './bank-files/request-pages.tsx';
import { HELD_REMEDIES, REQUEST_REMEDIES } from './bank-files/requests.ts';
import { clientList } from './clients/list.tsx';
import { clientPage } from './clients/page.tsx';
import { CLIENT_REMEDIES } from './clients/remedies.ts';
import { decidedReviewList } from './compliance/decided-list.tsx';
import { reviewList } from './compliance/list.tsx';
import { incomingReviewPage, outgoingReviewPage } from './compliance/page.tsx';
import { REVIEW_REMEDIES } from './compliance/remedies.ts';
import { incomingTransferList } from './incoming-transfers/list.tsx';
import { INCOMING_WORK_REMEDIES, incomingTransferPage } from './incoming-transfers/page.tsx';
import { INCOMING_TRANSFER_REMEDIES } from './incoming-transfers/remedies.ts';
import { unmatchedMoneyList } from './incoming-transfers/unmatched-list.tsx';
import { VIEW_FORMS } from './lists/view-forms.ts';
import { machineUserPage } from './machine-users/page.tsx';
import { MACHINE_USER_REMEDIES, REGISTRATION_REMEDIES } from './machine-users/remedies.ts';
import { CONSENT_REMEDIES, consentList, consentPage } from './open-banking/consents.tsx';
import { outgoingTransferList } from './outgoing-transfers/list.tsx';
import { outgoingTransferPage } from './outgoing-transfers/page.tsx';
import { OUTGOING_TRANSFER_REMEDIES } from './outgoing-transfers/remedies.ts';
import type { OwnForm, Page } from './page/page.ts';
import { accessPage, mePage, personPage } from './people/pages.tsx';
import { PEOPLE_REMEDIES } from './people/remedies.ts';
import { breakPage } from './reconciliation/break.tsx';
import { breakList } from './reconciliation/breaks.tsx';
import { calendarPage } from './reconciliation/calendar.tsx';
import { dayPage } from './reconciliation/day.tsx';
import { RECONCILIATION_REMEDIES } from './reconciliation/remedies.ts';
import type { Remedy } from './remedies/remedy.ts';
import { searchPage } from './search/page.tsx';
import { seenForm, todayPage } from './today/page.tsx';
import { TODAY_REMEDIES } from './today/remedies.ts';
import { forAllThatWait, waitingPage } from './waiting/page.tsx';
import { deliveryList, deliveryPage } from './webhooks/deliveries.tsx';
import { subscriptionList } from './webhooks/list.tsx';
import { subscriptionPage } from './webhooks/page.tsx';
import { DELIVERY_REMEDIES, SUBSCRIPTION_REMEDIES } from './webhooks/remedies.ts';

/** Every page, remedy and form of the console, one line per noun. The suites over them include a new one by themselves. */
export const PAGES: readonly Page[] = [
  todayPage,
  searchPage,
  mePage,
  outgoingTransferList,
  outgoingTransferPage,
  incomingTransferList,
  incomingTransferPage,
  waitingPage,
  approvalsPage,
  remedyListList,
  remedyListPage,
  reviewList,
  decidedReviewList,
  outgoingReviewPage,
  incomingReviewPage,
  unmatchedMoneyList,
  calendarPage,
  dayPage,
  breakList,
  breakPage,
  accountList,
  accountPage,
  statementPage,
  clientList,
  clientPage,
  consentList,
  consentPage,
  subscriptionList,
  subscriptionPage,
  deliveryList,
  deliveryPage,
  bankFileList,
  bankFilePage,
  heldPaymentList,
  requestList,
  requestPage,
  accessPage,
  machineUserPage,
  personPage,
  auditList,
];

export const REMEDIES: readonly Remedy[] = [
  ...TODAY_REMEDIES,
  ...OUTGOING_TRANSFER_REMEDIES,
  ...INCOMING_WORK_REMEDIES,
  forAllThatWait,
  forAllOutgoingTransfers,
  ...REMEDY_LIST_REMEDIES,
  ...Object.values(REVIEW_REMEDIES),
  ...INCOMING_TRANSFER_REMEDIES,
  ...RECONCILIATION_REMEDIES,
  ...ACCOUNT_REMEDIES,
  ...CLIENT_REMEDIES,
  ...CONSENT_REMEDIES,
  ...SUBSCRIPTION_REMEDIES,
  ...DELIVERY_REMEDIES,
  ...BRING_REMEDIES,
  ...FILE_REMEDIES,
  ...HELD_REMEDIES,
  ...REQUEST_REMEDIES,
  ...REGISTRATION_REMEDIES,
  ...MACHINE_USER_REMEDIES,
  ...PEOPLE_REMEDIES,
];

export const FORMS: readonly OwnForm[] = [seenForm, ...VIEW_FORMS];
