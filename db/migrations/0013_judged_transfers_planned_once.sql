-- As for internal transfers: Postgres otherwise plans each statement of the function anew for the few ids that it sees.
ALTER FUNCTION create_judged_transfers(json, json) SET plan_cache_mode = force_generic_plan;
