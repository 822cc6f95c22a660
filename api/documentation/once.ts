/** Pages need no token, so anybody may ask for many: each is made when it is first asked for, and kept. */
export function once<Value>(make: () => Value): () => Value {
  const kept = oncePer(make);
  return () => kept('');
}

/** As `once`, for each of a few keys, never for whatever a request names. */
export function oncePer<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, { readonly value: Value }>();
  return (key) => {
    const known = made.get(key) ?? { value: make(key) };
    made.set(key, known);
    return known.value;
  };
}
