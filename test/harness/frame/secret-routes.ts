import { type Route, route } from '../../../api/frame/route.ts';
import { fields, list, optional, pattern, text } from '../../../api/frame/schemas/schemas.ts';
import { secret } from '../../../api/frame/schemas/secrets.ts';

const word = () => secret(pattern(/^[a-z]{1,20}$/, 'a word'));

/** Secrets whose names say nothing, at every place that a body has. */
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
