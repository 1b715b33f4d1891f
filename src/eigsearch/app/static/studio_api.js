// Requests to the server that this page came from. Every answer is JSON; a problem is a sentence.

const BASE = location.pathname.replace(/[^/]*$/, "");

class Problem extends Error {}

async function ask(path, body, options = {}) {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let response;
  try {
    response = await fetch(BASE + path, { ...init, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The studio does not answer. Start it again, and open the address that it prints.");
  }
  if (!response.ok) throw new Problem(await response.text());
  if (response.headers.get("Content-Disposition")) return response.blob(); // a file
  const values = await response.json();
  if (values.error) throw new Problem(values.error);
  return values;
}

// Questions of which only the last one counts: an earlier one ends with an AbortError.
class LastAsked {
  ask(path, body) {
    this.drop();
    this.request = new AbortController();
    return ask(path, body, { signal: this.request.signal });
  }

  // What is on its way is not waited for any more.
  drop() {
    this.request?.abort();
  }
}

function showNotice(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}

// Clones a template, and returns its root with its parts.
function fromTemplate(id) {
  const root = document.getElementById(id).content.firstElementChild.cloneNode(true);
  return { root, parts: partsOf(root) };
}

async function copyText(button, text) {
  const label = (button.dataset.label ??= button.textContent); // it may say "Copied" now
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = label), 1500);
}
