/** Shared by the floor's server, worker and workflow; the workflow may import nothing else. */
export const FLOOR_TASK_QUEUE = 'floor';
export const FLOOR_REMOTE_TASK_QUEUE = 'floor-remote';
