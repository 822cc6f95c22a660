/** A page in place of what was asked for: what happened, and what the person can do. Thrown; the application shows it. */
export class PageRejection extends Error {
  readonly status: 400 | 401 | 403 | 404 | 413 | 415 | 503;
  readonly title: string;
  readonly text: string;
  /** Where to go on from here. */
  readonly link: { readonly href: string; readonly text: string } | null;

  constructor(page: Pick<PageRejection, 'status' | 'title' | 'text'> & { readonly link?: PageRejection['link'] }) {
    super(page.title);
    this.name = 'PageRejection';
    this.status = page.status;
    this.title = page.title;
    this.text = page.text;
    this.link = page.link ?? null;
  }
}

export const SIGN_IN_LINK = { href: '/sign-in', text: 'Sign in' } as const;
