/** What was written into a form that is being sent, by the fields' names; nothing for a field that is empty. */
export function filledIn(event: Event): Record<string, string> {
  event.preventDefault();
  const entries = [...new FormData(event.currentTarget as HTMLFormElement)];
  const written = entries.map(([name, value]) => [name, String(value).trim()]);
  return Object.fromEntries(written.filter(([, value]) => value));
}
