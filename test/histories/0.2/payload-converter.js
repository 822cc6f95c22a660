// The workflows of release 0.2, which ran on version 1.24.0 of Temporal's SDK. Made by `npm run workflows:release`.
import { DefaultPayloadConverter } from "@temporalio/common";
// workflows/frame/payload-converter.ts
/** In place of what cannot be read. */
var UNREADABLE = null;
/**
* Anybody who may signal can send bytes that are no JSON. The SDK's own converter would throw, and the workflow would be stuck
* on that signal until somebody resets it.
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
