// A provider of promptfoo: answers a prompt with the response that answers.json has for it.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const answers = JSON.parse(readFileSync(join(__dirname, "answers.json"), "utf-8"));

module.exports = class {
  id() {
    return "local:agent";
  }

  async callApi(prompt) {
    const found = answers[prompt];
    if (found === undefined) throw new Error(`no answer to ${prompt}`);
    return found;
  }
};
