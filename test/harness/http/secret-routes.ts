import { type Route, route } from '../../../api/http/route.ts';
import { fields, list, optional, pattern, text } from '../../../api/http/schemas/schemas.ts';
import { secret } from '../../../api/http/schemas/secrets.ts';

const word = () => secret(pattern(/^[a-z]{1,20}$/, 'a word'));

/** Secrets with neutral names, in every container of a body. */
const postVault = route(
  {
    method: 'POST',
    path: '/vaults',
    operationId: 'createVault',
    summary: 'Keep words',
    tag: 'System',
    roles: ['operator'],
    workflows: {
      direct: {
        workflow: { hint: optional(word()) },
        data: fields({
          vault: fields({
            name: text(20),
            answer: word(),
            riddles: optional(list(fields({ solution: word() }), 0, 3)),
            words: optional(list(word(), 0, 3)),
          }),
        }),
      },
    },
    response: fields({}),
    examples: {
      requests: { direct: { data: { vault: { name: 'a', answer: 'b', riddles: [{ solution: 'c' }], words: ['d'] } } } },
      response: {},
    },
  },
  async () => ({ data: {} }),
);

export const secretRoutes: readonly Route[] = [postVault];
