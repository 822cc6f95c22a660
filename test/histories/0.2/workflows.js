// The workflows of release 0.2, which ran on version 1.24.0 of Temporal's SDK. Made by `npm run workflows:release`.
import { ActivityFailure, ApplicationFailure, CancellationScope, TemporalFailure, condition, continueAsNew, defineSignal, log, patched, proxyActivities, proxyLocalActivities, setCurrentDetails, setHandler, sleep, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import { defineSearchAttributeKey } from "@temporalio/common";
// workflows/frame/messages.ts
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
* A decision about the compliance check of the transfer whose workflow gets it. Whoever may signal is a compliance authority
* (docs/operations.md).
*/
var COMPLIANCE_DECISION_SIGNAL = "compliance-decision";
/** The id of the row that a workflow represents. */
function resourceIdOf(workflowId) {
	return workflowId.slice(workflowId.indexOf("/") + 1);
}
// workflows/frame/policies.ts
/**
* Time-outs and retries of everything that workflows call. They live here because workflows import only types from
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
* the last attempt the workflow shows that it waits for the provider, and starts over.
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
* One judgement by the rules of the built-in review. A list that cannot be used is seldom usable a second later: few attempts,
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
/** A batch of housekeeping, which may read a lot. The next scheduled run repeats it anyway. */
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
// domain/frame/waits.ts
/** What is waited for, in words; other reasons are their own words. */
var WORDS = {
	compliance: "review",
	"next-window": "the next window, having missed one",
	account: "an account to become active",
	match: "an account to be assigned to",
	"outgoing-transfer": "the sender’s side",
	provider: "the provider",
	caller: "the caller’s report",
	mail: "the mail server",
	answer: "the invited person’s answer"
};
/** `authorization since 2026-11-23 09:00 UTC; until 2026-11-23 17:00 UTC`. Instants in ISO format. */
function waitInWords(wait) {
	return `${WORDS[wait.for] ?? wait.for}${wait.rule === null ? "" : ` (rule ${wait.rule})`}${wait.since === null ? "" : ` since ${minuteInUtc(wait.since)}`}${wait.until === null ? "" : `; until ${minuteInUtc(wait.until)}`}`;
}
/** `2026-11-23 09:00 UTC`. */
function minuteInUtc(instant) {
	return `${instant.slice(0, 16).replace("T", " ")} UTC`;
}
// workflows/frame/waits.ts
/** Keeps a deadline that has just passed, or on which two clocks disagree, from becoming a busy loop. */
var WAIT_MS_MIN$1 = 1e3;
var PAUSE_MS_MIN = 1e3;
var PAUSE_MS_MAX = 6e4;
/** The pause after a provider has repeatedly failed to answer; its callback ends the pause early. */
var PROVIDER_PAUSE_MS = 6e4;
var { describeWait } = proxyLocalActivities({
	...TRANSITION,
	summary: "Show what is waited for"
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
	const lookAgain = () => advance(id);
	const answer = (call) => answerOf(run, call, () => describeWait(type, id));
	const outside = {
		ask: (call, record) => answer(call).then((given) => given === void 0 ? void 0 : () => record(given)),
		callThenReload: (call) => async () => await answer(call) ?? await lookAgain()
	};
	let look = lookAgain;
	return evenIfCancelled(async () => {
		for (;;) {
			changed = false;
			if (inbox !== void 0) await handleAll(run, inbox, id);
			const next = await transition(run, look);
			look = lookAgain;
			if (isEnd(next)) {
				if (!changed) return;
			} else if (isWait(next)) await changeOrDeadline(run, next);
			else look = await act(next, id, outside) ?? lookAgain;
		}
	});
}
/** Whoever may signal may send anything: what is no message is left out, and its content stays out of the log. */
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
function evenIfCancelled(story) {
	return CancellationScope.nonCancellable(story);
}
/**
* Retries a transition for as long as the database is away, holding nothing but a timer between attempts. The happy
* path creates as few promises as it can: each costs the worker a stack trace.
*/
function transition(run, carryOut, pauseMs = PAUSE_MS_MIN) {
	return carryOut().catch(async (error) => {
		if (!isActivityFailure(error)) throw error;
		log.warn("a transition did not go through", {
			reason: reasonOf(error),
			pauseMs
		});
		setCurrentDetails(`A transition did not go through (${reasonOf(error)}). It is tried again every minute.`);
		await sleep(pauseMs, { summary: "Pause before the transition is tried again" });
		await startAfreshWhenLong(run);
		return transition(run, carryOut, Math.min(pauseMs * 2, PAUSE_MS_MAX));
	});
}
async function changeOrDeadline(run, wait) {
	show(wait);
	const changed = () => run.changed();
	if (wait.waitMs === null) await condition(changed);
	else await condition(changed, Math.max(WAIT_MS_MIN$1, wait.waitMs), { summary: waitSummary(wait) });
	setCurrentDetails("");
	await startAfreshWhenLong(run);
}
/**
* Returns the provider's answer, or undefined after a pause if there was none. The caller then reloads the row and
* sends the same call with the same reference: no answer never means failure.
*/
function answerOf(run, call, describe) {
	return call().catch(async (error) => {
		if (!isActivityFailure(error)) throw error;
		log.warn("a call to the outside got no answer", { reason: reasonOf(error) });
		await changeOrDeadline(run, {
			...await transition(run, describe),
			waitMs: PROVIDER_PAUSE_MS
		});
	});
}
/** Keeps histories short and so quick to replay. */
async function startAfreshWhenLong(run) {
	if (workflowInfo().continueAsNewSuggested) await continueAsNew(run.unhandled());
}
/**
* Whether an activity failed. The SDK may wrap a local activity's failure on the first run and not on replay, or the
* reverse, so workflows must depend on nothing but the fact of the failure.
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
	summary: "Move the account's change as far as its row allows"
});
var { connectClient } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Make the client known to the provider"
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
	summary: "Ask the provider what became of the request"
});
/** Opens or closes an account at its provider, which must know the client first. */
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
	"compare the statements of providers": upkeep.compareStatements
};
/** Added in a later release: runs that started before it skip this step. */
var TASKS_WITH_FEE_SWEEP = {
	...TASKS,
	"sweep the fees": upkeep.sweepFees
};
/** Scheduled housekeeping. Operators read its result first. */
async function housekeeping() {
	const report = {};
	await evenIfCancelled(async () => {
		const tasks = patched("fee-sweep") ? TASKS_WITH_FEE_SWEEP : TASKS;
		for (const [name, task] of Object.entries(tasks)) {
			setCurrentDetails(`Under way: ${name}.`);
			try {
				report[name] = await task();
			} catch (error) {
				if (!(error instanceof ActivityFailure)) throw error;
				log.error("upkeep could not be done", { task: name });
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
/** Null if the payload is no decision: a signal may carry anything. */
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
/** The compliance decisions signalled to a transfer's workflow. `undecided`: those that the run before left. */
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
	summary: "Judge the transfer by the rules of the built-in review"
});
var { recordComplianceJudgement } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record what the rules say"
});
/** Lets the service's own rules judge a transfer. Until they can, it stays in review, where a person may still decide. */
function reviewByRules(type, id, advance, { ask }) {
	return ask(() => reviewTransfer(type, id), async (judgement) => {
		await recordComplianceJudgement(type, id, judgement);
		return advance(id);
	});
}
// workflows/incoming-transfers/workflow.ts
var { advanceIncomingTransfer } = proxyLocalActivities({
	...TRANSITION,
	summary: "Move the transfer as far as its row allows"
});
var { recordIncomingTransferSentBack } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record that the money went back"
});
var { sendBackIncomingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Send the money back through the provider"
});
/** Incoming money that cannot be booked at once: waits while it is held or reviewed, and returns it if necessary. */
function incomingTransfer(undecided = []) {
	return reconcileLoop("incoming-transfer", advanceIncomingTransfer, (next, id, outside) => {
		switch (next.do) {
			case "review": return reviewByRules("incoming-transfer", id, advanceIncomingTransfer, outside);
			case "send-back": return outside.ask(() => sendBackIncomingTransfer(id), () => recordIncomingTransferSentBack(id));
		}
	}, complianceDecisions("incoming-transfer", undecided));
}
// workflows/outgoing-transfers/workflow.ts
var { advanceOutgoingTransfer } = proxyLocalActivities({
	...TRANSITION,
	summary: "Move the transfer as far as its row allows"
});
var { recordOutgoingTransferSubmission, recordOutgoingTransferLookUp } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record what the provider said"
});
var { submitOutgoingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Submit the payment to the provider"
});
var { lookUpOutgoingTransfer } = proxyActivities({
	...PROVIDER_CALL,
	summary: "Ask the provider how the payment went"
});
/**
* Takes a transfer from acceptance to its end: waits for authorization, review, date and funds, submits it to the
* provider, and waits for the result.
*/
function outgoingTransfer(undecided = []) {
	return reconcileLoop("outgoing-transfer", advanceOutgoingTransfer, (next, id, outside) => {
		switch (next.do) {
			case "review": return reviewByRules("outgoing-transfer", id, advanceOutgoingTransfer, outside);
			case "submit": return outside.ask(() => submitOutgoingTransfer(id, next.attempt), (report) => recordOutgoingTransferSubmission(id, next.attempt, report));
			case "look-up": return outside.ask(() => lookUpOutgoingTransfer(id, next.count), (report) => recordOutgoingTransferLookUp(id, next.count, report));
		}
	}, complianceDecisions("outgoing-transfer", undecided));
}
// workflows/users/workflow.ts
var { advanceUserInvitation } = proxyLocalActivities({
	...TRANSITION,
	summary: "Move the invitation as far as its row allows"
});
var { recordInvitationMailed } = proxyLocalActivities({
	...TRANSITION,
	summary: "Record that a mail server has the e-mail"
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
	summary: "Deliver what is due"
});
/** Keeps a deadline that has just passed, or on which two clocks disagree, from becoming a busy loop. */
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
export { accountConnection as "account-connection", housekeeping, incomingTransfer as "incoming-transfer", outgoingTransfer as "outgoing-transfer", signUp as "user-invitation", webhookDelivery as "webhook-delivery" };
