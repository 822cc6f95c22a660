// The workflows of release 0.1.0, which ran on version 1.24.0 of Temporal's SDK. Made by `npm run workflows:release`.
import { DefaultPayloadConverter } from "@temporalio/common";
// workflows/common/payload-converter.ts
/** Replaces a payload that cannot be read. */
var UNREADABLE = null;
/**
* A signal may contain bytes that are not JSON. The SDK's own converter would throw, and the workflow would be stuck
* on that signal until an operator resets it.
*/
var LenientPayloadConverter = class extends DefaultPayloadConverter {
	fromPayload(payload) {
		try {
			return super.fromPayload(payload);
		} catch {
			return UNREADABLE;
		}
	}
};
/** The name under which the SDK looks for it. */
var payloadConverter = new LenientPayloadConverter();
export { payloadConverter };
