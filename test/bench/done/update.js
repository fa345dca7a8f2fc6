// @ts-check

/** Updates one entry. @throws when the API does not answer with 200 */
export async function update(/** @type {string} */ url, /** @type {number} */ id) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${process.env['CQBATCH_TOKEN']}`,
    },
    body: JSON.stringify({ soundboard: { soundboard_id: id, title: `Title ${id}` } }),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`The API answers with ${answer.status}.`);
}
