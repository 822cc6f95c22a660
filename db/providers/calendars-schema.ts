import { date, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** What the service decides by, for drizzle; the migrations are authoritative. */
export const calendarEditions = pgTable('calendar_editions', {
  calendar: text('calendar').primaryKey(),
  digest: text('digest').notNull(),
  source: text('source').notNull(),
  publishedUntil: date('published_until', { mode: 'string' }).notNull(),
  until: date('until', { mode: 'string' }).notNull(),
  closedDates: text('closed_dates').array().notNull(),
  inForceSince: timestamp('in_force_since', { withTimezone: true, mode: 'date' }).notNull(),
});

/** Digests of the settings that decide about transfers. */
export const transferRuleSettings = pgTable('transfer_rule_settings', {
  setting: text('setting').primaryKey(),
  digest: text('digest').notNull(),
  inForceSince: timestamp('in_force_since', { withTimezone: true, mode: 'date' }).notNull(),
});
