import { DomainError } from '../../domain/frame/errors.ts';
import type { OperationContext } from './operations.ts';

/** Prints a refusal as JSON, with what was refused, and returns exit status 1; throws any other error on, and without `--json` every one. */
export function showRefusal(
  { print }: Pick<OperationContext, 'print'>,
  { error, isJson, subject }: { readonly error: unknown; readonly isJson: boolean; readonly subject: object },
): 1 {
  if (!(error instanceof DomainError) || !isJson) throw error;
  print(JSON.stringify({ ...subject, refused: error.problems[0].message }));
  return 1;
}
