import { DefaultPayloadConverter, type Payload } from '@temporalio/common';

/** Replaces a payload that cannot be read. */
const UNREADABLE: unknown = null;

/**
 * A signal may contain bytes that are not JSON. The SDK's own converter would throw, and the workflow would be stuck
 * on that signal until an operator resets it.
 */
class LenientPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<Value>(payload: Payload): Value {
    try {
      return super.fromPayload<Value>(payload);
    } catch {
      return UNREADABLE as Value;
    }
  }
}

/** The name under which the SDK looks for it. */
export const payloadConverter = new LenientPayloadConverter();
