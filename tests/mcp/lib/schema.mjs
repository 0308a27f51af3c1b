// schema.mjs - the official JSON schemas of the five revisions, as validators by type name.
import { readFileSync } from "node:fs";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

export const LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
export const MODERN = "2026-07-28";
export const REVISIONS = [...LEGACY, MODERN];

const books = new Map();

function bookOf(revision) {
    if (!books.has(revision)) {
        const schema = JSON.parse(readFileSync(new URL(`../schema/${revision}.json`, import.meta.url)));
        const is2020 = schema.$schema.includes("2020-12");
        const ajv = new (is2020 ? Ajv2020 : Ajv)({ strict: false, allErrors: true });
        addFormats(ajv);
        ajv.addSchema(schema, revision);
        books.set(revision, { ajv, place: is2020 ? "$defs" : "definitions", names: schema.$defs ?? schema.definitions });
    }
    return books.get(revision);
}

export function hasType(revision, type) {
    return type in bookOf(revision).names;
}

// Throws unless `value` is a `type` of that revision.
export function demandType(revision, type, value) {
    const { ajv, place } = bookOf(revision);
    const validate = ajv.getSchema(`${revision}#/${place}/${type}`);
    if (!validate)
        throw new Error(`revision ${revision} has no type ${type}`);
    if (!validate(value))
        throw new Error(`not a ${type} of ${revision}: ${ajv.errorsText(validate.errors)}\n${shown(value)}`);
}

const compiled = new Map(); // compiling takes longer than many calls

// A validator for a schema a tool published.
export function toolValidator(schema) {
    const key = JSON.stringify(schema);
    if (!compiled.has(key))
        compiled.set(key, new Ajv2020({ strict: true, allErrors: true }).compile(schema));
    const validate = compiled.get(key);
    return (value, what) => {
        if (!validate(value))
            throw new Error(`${what} does not match its published schema: ${JSON.stringify(validate.errors)}\n${shown(value)}`);
    };
}

export function shown(value) {
    return JSON.stringify(value).slice(0, 2000);
}
