import { migrateAsCommand } from '../../db/migrate.ts';

// The image's own beginning of the migration: db/migrate.ts begins only where it is itself the program.
await migrateAsCommand();
