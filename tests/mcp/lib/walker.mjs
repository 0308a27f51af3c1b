// walker.mjs - a person who is shown every ask and does with it what a test says; asks are found by a mark, #…#, in their text.
import assert from "node:assert/strict";
import { Tab } from "./tab.mjs";
import { Person } from "./wire.mjs";

export const WHY = "What is in it?";
const VALUES = {
    single: ({ options }) => options.at(-1).id, // the gate's yes
    multi: ({ options }) => [options[0].id],
    hybrid: ({ options }) => options[0].id,
    text: () => "words",
    number: ({ minimum }) => minimum ?? 1,
    confirm: () => true,
};

export class Walker {
    static async at(home) {
        const walker = Object.assign(new Walker(), { person: await Person.at(home), home, asks: new Map(), rows: new Map(), waiting: [] });
        await walker.person.watch((row) => walker.meet(row));
        const { onEvent } = walker.person;
        walker.person.onEvent = (message) => {
            if (message.method === "ask/changed")
                walker.rows.set(message.params.ask.session_id, message.params.ask);
            onEvent(message);
            walker.look();
        };
        return walker;
    }

    async meet({ session_id }) {
        const { form } = await this.person.call("ask/get", { session_id });
        const [mark] = /#[^#]+#/.exec(JSON.stringify(form)) ?? [];
        assert.ok(mark, JSON.stringify(form));
        this.asks.set(mark, [...(this.asks.get(mark) ?? []), session_id]);
        this.look();
    }

    look() {
        this.waiting = this.waiting.filter((waits) => !waits());
    }

    // Resolves with what `find` finds, once it finds something.
    wait(find) {
        return new Promise((resolve) => {
            this.waiting.push(() => {
                const found = find();
                if (found)
                    resolve(found);
                return found;
            });
            this.look();
        });
    }

    // Resolves with the ids of this mark once there are so many.
    asked(mark, count) {
        return this.wait(() => this.asks.get(mark)?.length >= count && this.asks.get(mark));
    }

    // Resolves once no agent waits for it.
    left(session_id) {
        return this.wait(() => this.rows.get(session_id)?.detached_at);
    }

    async act(ending, session_id, front) {
        const acts = {
            answered: () => this.answer(session_id),
            cancelled: () => this.person.call("ask/cancel", { session_id }),
            declined: () => this.person.call("ask/decline", { session_id }),
            "asked back": () => this.person.call("ask/back", { session_id, text: WHY }),
            timeout: () => this.person.call("ask/extend", { session_id, seconds: 1 }),
            withdrawn: () => front.withdraw(session_id),
        };
        await acts[ending]();
    }

    async answer(session_id) {
        const { form } = await this.person.call("ask/get", { session_id });
        const fields = Object.fromEntries(form.fields.map((field) => [field.name, VALUES[field.kind](field)]));
        if (!form.destructive)
            return this.person.call("ask/answer", { session_id, fields });
        this.tab ??= this.signIn();
        const tab = await this.tab;
        return tab.call("ask/answer", { session_id, fields, ...await tab.call("ask/challenge", { session_id }) });
    }

    // Destructive asks are answered where a person looks: in the portal.
    async signIn() {
        const { link } = await this.person.call("portal/link");
        return Tab.at(this.home, { code: link.split("#code=")[1] });
    }
}
