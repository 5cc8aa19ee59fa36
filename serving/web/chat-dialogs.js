// The dialogs that rename and delete a chat.

import { byId } from "./dom.js";
import { t } from "./texts.js";

const field = byId("rename-title");

export function editTitle(title, save) {
  field.value = title;
  openForm("rename", () => save(field.value));
  field.select();
}

export function confirmRemoval(title, remove) {
  byId("remove-text").textContent = t.removeText(title);
  openForm("remove", remove);
}

// Closed when the work is done; an error is told in the dialog, which stays.
function openForm(name, work) {
  const [dialog, form, told] = [byId(name), byId(`${name}-form`), byId(`${name}-error`)];
  told.textContent = "";
  form.onsubmit = async (event) => {
    event.preventDefault();
    try {
      dialog.close();
      await work();
    } catch (error) {
      told.textContent = error.message;
      dialog.showModal();
    }
  };
  dialog.showModal();
}

for (const closer of document.querySelectorAll("[data-closes]")) {
  closer.addEventListener("click", () => byId(closer.dataset.closes).close());
}
