// The workflows of release 0.1.0, which ran on version 1.24.0 of Temporal's SDK. Made by `npm run workflows:release`.
import { ActivityFailure, ApplicationFailure, CancellationScope, TemporalFailure, condition, continueAsNew, defineSignal, log, proxyActivities, proxyLocalActivities, setCurrentDetails, setHandler, sleep, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import { defineSearchAttributeKey } from "@temporalio/common";
// workflows/common/messages.ts
/**
* What other folders may know of workflows: names, ids, task queues and the wake-up signal. The API and the relay
* import nothing else from workflows/.
*/
var TASK_QUEUES = {
	workflows: "workflows",
	providers: "providers",
	webhooks: "webhooks"
};
/** "Your row has changed": no payload, so duplicates and late signals are harmless. */
var CHANGED_SIGNAL = "changed";
/**
* A decision about the compliance check of the transfer whose workflow receives it. Permission to signal is compliance authority
* (docs/runbook/transfers.md).
*/
var COMPLIANCE_DECISION_SIGNAL = "compliance-decision";
/** The id of the row that a workflow represents. */
function resourceIdOf(workflowId) {
	return workflowId.slice(workflowId.indexOf("/") + 1);
}
// workflows/common/policies.ts
/**
* Timeouts and retries of everything that workflows call. They are here because workflows import only types from
* activities/.
*/
/**
* One guarded transition in Postgres. After two attempts the workflow sleeps durably: local activities retrying
* against an absent Postgres would fill all workflow slots and starve every timer.
*/
var TRANSITION = {
	startToCloseTimeout: "2 seconds",
	retry: {
		maximumAttempts: 2,
		initialInterval: "100 milliseconds"
	}
};
/**
* One call to a provider, safe to repeat under its reference. Heartbeats reveal a dead worker within seconds. After
* the last attempt the workflow shows that it waits for the provider, and then starts over.
*/
var PROVIDER_CALL = {
	taskQueue: TASK_QUEUES.providers,
	startToCloseTimeout: "30 seconds",
	heartbeatTimeout: "8 seconds",
	retry: {
		initialInterval: "1 second",
		backoffCoefficient: 2,
		maximumInterval: "20 seconds",
		maximumAttempts: 7
	}
};
/**
* One screening by the built-in rules. A list that cannot be used is seldom usable a second later: few attempts,
* then the workflow shows that it waits, and starts over.
*/
var REVIEW = {
	taskQueue: TASK_QUEUES.providers,
	startToCloseTimeout: "1 minute",
	heartbeatTimeout: "8 seconds",
	retry: {
		initialInterval: "1 second",
		backoffCoefficient: 2,
		maximumAttempts: 3
	}
};
/** One housekeeping task, which may read many rows. The next scheduled run repeats it anyway. */
var UPKEEP = {
	taskQueue: TASK_QUEUES.providers,
	startToCloseTimeout: "10 minutes",
	heartbeatTimeout: "20 seconds",
	retry: {
		initialInterval: "5 seconds",
		maximumAttempts: 3
	}
};
/** The first ledger check reads every posting, so it may take long. */
var LEDGER_CHECK = {
	...UPKEEP,
	startToCloseTimeout: "70 minutes"
};
/** Every due day of one provider with its whole statement; after an outage there may be many. */
var RECONCILIATION = {
	...UPKEEP,
	startToCloseTimeout: "6 hours"
};
/** Hands one e-mail to the mail server, on the webhooks' queue: a slow mail server must not delay payments. */
var MAIL = {
	taskQueue: TASK_QUEUES.webhooks,
	startToCloseTimeout: "1 minute",
	heartbeatTimeout: "8 seconds",
	retry: {
		initialInterval: "1 second",
		backoffCoefficient: 2,
		maximumInterval: "20 seconds",
		maximumAttempts: 7
	}
};
/** One run of a shard's deliveries, which ends by itself after a minute. A failing receiver never fails it. */
var WEBHOOK_DELIVERY = {
	taskQueue: TASK_QUEUES.webhooks,
	startToCloseTimeout: "3 minutes",
	heartbeatTimeout: "8 seconds",
	retry: {
		initialInterval: "1 second",
		backoffCoefficient: 2,
		maximumInterval: "20 seconds"
	}
};
// domain/common/waits.ts
/** The reasons of waits in words; other reasons are shown as they are. */
var WORDS = {
	compliance: "review",
	"next-window": "the next window, after missing one",
	account: "an account to become active",
	match: "an account to be assigned to",
	"outgoing-transfer": "the outgoing transfer",
	provider: "the provider",
	retry: "the next attempt, because the provider rejected the last one for a retryable reason",
	recall: "the answer to its recall",
	caller: "the caller’s report",
	mail: "the mail server",
	answer: "the invited person’s answer",
	"account-holder": "the account holder’s approval",
	exchange: "the third party’s exchange of its code",
	"grant-expiry": "the end of the grant"
};
/** `authorization since 2026-11-23 09:00 UTC; until 2026-11-23 17:00 UTC`. Instants in ISO format. */
function waitInWords(wait) {
	return `${WORDS[wait.for] ?? wait.for}${wait.rule === null ? "" : ` (rule ${wait.rule})`}${wait.since === null ? "" : ` since ${minuteInUtc(wait.since)}`}${wait.until === null ? "" : `; until ${minuteInUtc(wait.until)}`}`;
}
/** `2026-11-23 09:00 UTC`. */
function minuteInUtc(instant) {
	return `${instant.slice(0, 16).replace("T", " ")} UTC`;
}
// workflows/common/waits.ts
/** Prevents a busy loop on a deadline that has just passed, or on which two clocks disagree. */
var WAIT_MS_MIN$1 = 1e3;
var PAUSE_MS_MIN = 1e3;
var PAUSE_MS_MAX = 6e4;
/** The pause after a provider has repeatedly failed to answer; its callback ends the pause early. */
var PROVIDER_PAUSE_MS = 6e4;
var { describeWait } = proxyLocalActivities({
	...TRANSITION,
	summary: "Show what the workflow waits for"
});
/**
* The loop of a workflow that represents a row: run a transition, then act or wait as it says, until the row is
* final.
*/
function reconcileLoop(type, advance, act, inbox) {
	let changed = false;
	setHandler(defineSignal(CHANGED_SIGNAL), () => {
		changed = true;
	});
	if (inbox !== void 0) receive(inbox, () => {
		changed = true;
	});
	const run = {
		changed: () => changed,
		unhandled: () => inbox?.unhandled ?? []
	};
	const id = resourceIdOf(workflowInfo().workflowId);
	const reload = () => advance(id);
	const answer = (call) => answerOf(run, call, () => describeWait(type, id));
	const outside = {
		ask: (call, record) => answer(call).then((given) => given === void 0 ? void 0 : () => record(given)),
		callThenReload: (call) => async () => await answer(call) ?? await reload()
	};
	let pending = reload;
	return evenIfCancelled(async () => {
		for (;;) {
			changed = false;
			if (inbox !== void 0) await handleAll(run, inbox, id);
			const next = await transition(run, pending);
			pending = reload;
			if (isEnd(next)) {
				if (!changed) return;
			} else if (isWait(next)) await changeOrDeadline(run, next);
			else pending = await act(next, id, outside) ?? reload;
		}
	});
}
/** A signal may contain anything: an invalid message is ignored, and its content stays out of the log. */
function receive({ signal, parse, unhandled }, onMessage) {
	setHandler(defineSignal(signal), (payload) => {
		const message = parse(payload);
		if (message === null) {
			log.warn("a signal without a valid payload is ignored", { signal });
			return;
		}
		unhandled.push(message);
		onMessage();
	});
}
async function handleAll(run, { handle, unhandled }, id) {
	for (let [message] = unhandled; message !== void 0; [message] = unhandled) {
		const oldest = message;
		await transition(run, () => handle(id, oldest));
		unhandled.shift();
	}
}
function isEnd(next) {
	return next.do === "end";
}
function isWait(next) {
	return next.do === "wait";
}
/** Cancelling in Temporal does not cancel the business process: only the row decides when it ends. */
function evenIfCancelled(work) {
	return CancellationScope.nonCancellable(work);
}
/**
* Retries a transition for as long as the database is away, holding nothing but a timer between attempts. The happy
* path creates as few promises as it can: each costs the worker a stack trace.
*/
function transition(run, carryOut, pauseMs = PAUSE_MS_MIN) {
	return carryOut().catch(async (error) => {
		if (!isActivityFailure(error)) throw error;
		log.warn("a transition failed", {
			reason: reasonOf(error),
			pauseMs
		});
		setCurrentDetails(`A transition failed (${reasonOf(error)}). It is retried at least once a minute.`);
		await sleep(pauseMs, { summary: "Pause before the transition is retried" });
		await continueAsNewWhenLong(run);
		return transition(run, carryOut, Math.min(pauseMs * 2, PAUSE_MS_MAX));
	});
}
async function changeOrDeadline(run, wait) {
	show(wait);
	const changed = () => run.changed();
	if (wait.waitMs === null) await condition(changed);
	else await condition(changed, Math.max(WAIT_MS_MIN$1, wait.waitMs), { summary: waitSummary(wait) });
	setCurrentDetails("");
	await continueAsNewWhenLong(run);
}
/**
* Returns the provider's answer, or undefined after a pause if there was none. The caller then reloads the row and
* sends the same call with the same reference: no answer never means failure.
*/
function answerOf(run, call, describe) {
	return call().catch(async (error) => {
		if (!isActivityFailure(error)) throw error;
		log.warn("an external call got no answer", { reason: reasonOf(error) });
		await changeOrDeadline(run, {
			...await transition(run, describe),
			waitMs: PROVIDER_PAUSE_MS
		});
	});
}
/** Keeps histories short, and therefore quick to replay. */
async function continueAsNewWhenLong(run) {
	if (workflowInfo().continueAsNewSuggested) await continueAsNew(run.unhandled());
}
/**
* Whether an activity failed. The SDK may wrap a local activity's failure on the first run but not on replay, or the
* reverse, so workflows must depend only on the fact of the failure.
*/
function isActivityFailure(error) {
	return error instanceof TemporalFailure;
}
function reasonOf(failure) {
	const cause = failure instanceof ActivityFailure ? failure.cause : failure;
	if (cause instanceof ApplicationFailure) return cause.type ?? "unknown";
	return cause instanceof Error ? cause.name : "unknown";
}
var KEYS = {
	clientId: defineSearchAttributeKey("ClientId", "KEYWORD"),
	accountId: defineSearchAttributeKey("AccountId", "KEYWORD"),
	status: defineSearchAttributeKey("TransferStatus", "KEYWORD"),
	scheme: defineSearchAttributeKey("Scheme", "KEYWORD"),
	currency: defineSearchAttributeKey("Currency", "KEYWORD"),
	provider: defineSearchAttributeKey("Provider", "KEYWORD"),
	waitingFor: defineSearchAttributeKey("WaitingFor", "KEYWORD")
};
function waitSummary({ work, since, until, review }) {
	return `Waits for ${waitInWords({
		for: work.waitingFor,
		since: since ?? review?.since ?? null,
		until,
		rule: review?.rule ?? null
	})}`;
}
/** Shows operators what the workflow waits for. Search attributes are written only when that changes. */
function show(wait) {
	setCurrentDetails(`${waitSummary(wait)}.`);
	const known = workflowInfo().typedSearchAttributes;
	const { work } = wait;
	if (known.get(KEYS.waitingFor) === work.waitingFor && known.get(KEYS.status) === work.status) return;
	upsertSearchAttributes([
		{
			key: KEYS.clientId,
			value: work.clientId
		},
		{
			key: KEYS.accountId,
			value: work.accountId
		},
		{
			key: KEYS.status,
			value: work.status
		},
		{
			key: KEYS.scheme,
			value: work.scheme
		},
		{
			key: KEYS.currency,
			value: work.currency
		},
		{
			key: KEYS.provider,
			value: work.provider
		},
		{
			key: KEYS.waitingFor,
			value: work.waitingFor
		}
	]);
}
// workflows/accounts/workflow.ts
var { advanceAccountConnection } = proxyLocalActivities({
	...TRANSITION,
	summary: "Advance the account's opening or closing"
});
var { connectClient } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Connect the client at the provider, and open the account"
});
var { openAccount } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Open the account at the provider"
});
var { closeAccount } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Close the account at the provider"
});
var { lookUpAccount } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Look up the request at the provider"
});
/** Opens or closes an account at its provider, after connecting the client. */
function accountConnection() {
	return reconcileLoop("account-connection", advanceAccountConnection, (next, id, { callThenReload }) => {
		switch (next.do) {
			case "connect-client": return callThenReload(() => connectClient(id));
			case "open-account": return callThenReload(() => openAccount(id, next.attempt));
			case "close-account": return callThenReload(() => closeAccount(id, next.attempt));
			case "look-up": return callThenReload(() => lookUpAccount(id, next.count));
		}
	});
}
// workflows/housekeeping.ts
var upkeep = proxyActivities(UPKEEP);
var { checkLedger } = proxyActivities(LEDGER_CHECK);
/** Tasks run in this order; a failing one does not stop the rest. */
var TASKS = {
	"check the ledger": checkLedger,
	"checkpoint system accounts": upkeep.checkpointSystemAccounts,
	"forget old idempotency keys": upkeep.forgetOldIdempotencyKeys,
	"check the calendars": upkeep.checkCalendars,
	"forget old webhook deliveries": upkeep.forgetOldWebhookDeliveries,
	"compare the statements of providers": upkeep.compareStatements,
	"sweep the fees": upkeep.sweepFees,
	"forget old events": upkeep.forgetOldEvents,
	"forget what has expired": upkeep.forgetWhatHasExpired
};
/** Scheduled housekeeping. Operators read its result first. */
async function housekeeping() {
	const report = {};
	await evenIfCancelled(async () => {
		for (const [name, task] of Object.entries(TASKS)) {
			setCurrentDetails(`Under way: ${name}.`);
			try {
				report[name] = await task();
			} catch (error) {
				if (!(error instanceof ActivityFailure)) throw error;
				log.error("a housekeeping task failed", { task: name });
				report[name] = "not-done";
			}
		}
		setCurrentDetails("");
	});
	return report;
}
// domain/compliance/procedures.ts
/** The only procedure of compliance checks, and its results (specification 2.10). */
var PROCEDURES = ["transaction-monitoring"];
var PROCEDURE_RESULTS = [
	"all-passed",
	"soft-stop",
	"hard-stop",
	"hard-stop-accepted",
	"hard-stop-rejected"
];
/** Printable and short enough for the audit log. */
var SIGNALLED_TEXT = /^(?! *$)[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,100}$/u;
/** Null if the payload is not a decision: a signal may contain anything. */
function parseSignalledDecision(payload) {
	if (typeof payload !== "object" || payload === null) return null;
	const sent = new Map(Object.entries(payload));
	const procedure = PROCEDURES.find((known) => known === sent.get("procedure"));
	const result = PROCEDURE_RESULTS.find((known) => known === sent.get("result"));
	const [decisionId, actor] = [sent.get("decisionId"), sent.get("actor")];
	if (procedure === void 0 || result === void 0 || !isPrintable(decisionId) || !isPrintable(actor)) return null;
	return {
		decisionId,
		procedure,
		result,
		actor
	};
}
function isPrintable(value) {
	return typeof value === "string" && SIGNALLED_TEXT.test(value);
}
// workflows/compliance/decisions.ts
var { recordComplianceDecision } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record a decision of the compliance check"
});
/** The compliance decisions signalled to a transfer's workflow. `undecided`: those that the previous run left. */
function complianceDecisions(type, undecided) {
	return {
		signal: COMPLIANCE_DECISION_SIGNAL,
		parse: parseSignalledDecision,
		handle: (id, decision) => recordComplianceDecision(type, id, decision),
		unhandled: [...undecided]
	};
}
// workflows/compliance/reviews.ts
var { reviewTransfer } = proxyActivities({
	...REVIEW,
	summary: "Screen the transfer by the built-in rules"
});
var { recordComplianceJudgement } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record the screening result"
});
/** Screens a transfer by the built-in rules. Until that succeeds it stays in review, where a person may still decide. */
function screenByRules(type, id, advance, { ask }) {
	return ask(() => reviewTransfer(type, id), async (result) => {
		await recordComplianceJudgement(type, id, result);
		return advance(id);
	});
}
// workflows/incoming-transfers/workflow.ts
var { advanceIncomingTransfer } = proxyLocalActivities({
	...TRANSITION,
	summary: "Advance the transfer"
});
var { recordIncomingTransferSentBack } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record that the money was returned"
});
var { sendBackIncomingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Return the money through the provider"
});
/** Incoming money that cannot be booked at once: waits while it is held or reviewed, and returns it if necessary. */
function incomingTransfer(undecided = []) {
	return reconcileLoop("incoming-transfer", advanceIncomingTransfer, (next, id, outside) => {
		switch (next.do) {
			case "review": return screenByRules("incoming-transfer", id, advanceIncomingTransfer, outside);
			case "send-back": return outside.ask(() => sendBackIncomingTransfer(id), () => recordIncomingTransferSentBack(id));
		}
	}, complianceDecisions("incoming-transfer", undecided));
}
// workflows/open-banking/workflow.ts
var { advanceConsent } = proxyLocalActivities({
	...TRANSITION,
	summary: "Advance the consent"
});
/**
* One consent, by its id: waits for the account holder's answer, then for the third party to exchange its code, then for the end
* of the grant. The consent expires at whichever deadline passes first.
*/
function consent() {
	return reconcileLoop("consent", advanceConsent, (step) => step);
}
// workflows/outgoing-transfers/workflow.ts
var { advanceOutgoingTransfer } = proxyLocalActivities({
	...TRANSITION,
	summary: "Advance the transfer"
});
var { recordOutgoingTransferSubmission, recordOutgoingTransferLookUp } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record the provider's answer"
});
var { recordOutgoingTransferRecall } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record the provider's answer to the recall"
});
var { submitOutgoingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Submit the payment to the provider"
});
var { lookUpOutgoingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Look up the payment at the provider"
});
var { recallOutgoingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Recall the payment through the provider"
});
/**
* Takes a transfer from acceptance to its end: waits for authorization, review, date and funds, submits it to the
* provider, and waits for the result. A recall of a transfer that has ended starts it again.
*/
function outgoingTransfer(undecided = []) {
	return reconcileLoop("outgoing-transfer", advanceOutgoingTransfer, (next, id, outside) => {
		switch (next.do) {
			case "review": return screenByRules("outgoing-transfer", id, advanceOutgoingTransfer, outside);
			case "submit": return outside.ask(() => submitOutgoingTransfer(id, next.attempt), (report) => recordOutgoingTransferSubmission(id, next.attempt, report));
			case "look-up": return outside.ask(() => lookUpOutgoingTransfer(id, next.count), (report) => recordOutgoingTransferLookUp(id, next.count, report));
			case "recall": return outside.ask(() => recallOutgoingTransfer(id, next.number), (report) => recordOutgoingTransferRecall(id, report));
		}
	}, complianceDecisions("outgoing-transfer", undecided));
}
// workflows/reconciliation/workflow.ts
var { listReconciledProviders } = proxyActivities(UPKEEP);
var { reconcileProvider } = proxyActivities(RECONCILIATION);
/** Compares the due days of every provider, all providers in parallel. Operators read its result first. */
async function reconciliation() {
	let report = {};
	let isClockMoved = false;
	setHandler(defineSignal(CHANGED_SIGNAL), () => {
		isClockMoved = true;
	});
	await evenIfCancelled(async () => {
		do {
			isClockMoved = false;
			const providers = await listReconciledProviders();
			setCurrentDetails(`Under way: ${providers.join(", ")}.`);
			const results = await Promise.all(providers.map(reconcile));
			report = Object.fromEntries(providers.map((provider, index) => [provider, results[index] ?? "not-done"]));
		} while (isClockMoved);
		setCurrentDetails("");
	});
	return report;
}
async function reconcile(provider) {
	try {
		return await reconcileProvider(provider);
	} catch (error) {
		if (!(error instanceof ActivityFailure)) throw error;
		log.error("a provider could not be reconciled", { provider });
		return "not-done";
	}
}
// workflows/users/workflow.ts
var { advanceUserInvitation } = proxyLocalActivities({
	...TRANSITION,
	summary: "Advance the invitation"
});
var { recordInvitationMailed } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record that the mail server has accepted the e-mail"
});
var { sendInvitationMail } = proxyActivities({
	...MAIL,
	summary: "Hand the e-mail to the mail server"
});
/**
* One sign-up, by its id: e-mails the invitation, then waits seven days for the answer. Temporal knows the workflow
* as `user-invitation`.
*/
function signUp() {
	return reconcileLoop("user-invitation", advanceUserInvitation, (next, id, { ask }) => {
		switch (next.do) {
			case "send-mail": return ask(() => sendInvitationMail(id), () => recordInvitationMailed(id));
		}
	});
}
// workflows/webhooks/workflow.ts
var { deliverWebhooks } = proxyActivities({
	...WEBHOOK_DELIVERY,
	summary: "Send the due deliveries"
});
/** Prevents a busy loop on a deadline that has just passed, or on which two clocks disagree. */
var WAIT_MS_MIN = 1e3;
/** One shard of webhook deliveries: sends what is due, then waits for the next event or retry. */
async function webhookDelivery() {
	let changed = false;
	setHandler(defineSignal(CHANGED_SIGNAL), () => {
		changed = true;
	});
	const shard = Number(resourceIdOf(workflowInfo().workflowId));
	while (!workflowInfo().continueAsNewSuggested) {
		changed = false;
		setCurrentDetails("Delivering.");
		const { waitMs } = await deliverWebhooks(shard);
		if (waitMs === 0) continue;
		if (waitMs === null) {
			setCurrentDetails("Waiting for events.");
			await condition(() => changed);
		} else {
			setCurrentDetails("Waiting for events, or for the next retry.");
			await condition(() => changed, Math.max(WAIT_MS_MIN, Math.ceil(waitMs)), { summary: "Until the next retry" });
		}
	}
	await continueAsNew();
}
export { accountConnection as "account-connection", consent, housekeeping, incomingTransfer as "incoming-transfer", outgoingTransfer as "outgoing-transfer", reconciliation, signUp as "user-invitation", webhookDelivery as "webhook-delivery" };
