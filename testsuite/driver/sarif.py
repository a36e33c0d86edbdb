"""The part of SARIF 2.1.0 that cnnc may use, and its validation.

SCHEMA follows the standard (OASIS, Static Analysis Results Interchange Format 2.1.0, section 3) in
JSON Schema's words. An object has all members that the standard allows there, so that one it does
not know is found. Members of other kinds of objects, which cnnc never writes, are any value: {}.
"""
import copy
import operator
import re

# RFC 3986. A relative reference has no colon in its first segment.
_CHARACTER = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_REST = rf"(?:\?(?:{_CHARACTER}|\?)*)?(?:#(?:{_CHARACTER}|\?)*)?"
URI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:{_CHARACTER}*{_REST}")
RELATIVE = re.compile(rf"(?![^/?#]*:){_CHARACTER}*{_REST}")
FORMATS = {"uri": URI.fullmatch,
           "uri-reference": lambda text: URI.fullmatch(text) or RELATIVE.fullmatch(text)}

STRING, BOOLEAN, INTEGER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
INDEX = {"type": "integer", "minimum": -1}
COUNT, PLACE = {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 1}


def names(text):
    """Members of any value."""
    return dict.fromkeys(text.split(), {})


def items(of, least=0, unique=False):
    return {"type": "array", "items": of, "minItems": least, "uniqueItems": unique}


def object_of(required, members, any_of=()):
    return {"type": "object", "required": required.split(), "anyOf": list(any_of),
            "properties": {**members, "properties": {}}}


SCHEMA = {
    "log": object_of("version runs", {
        "$schema": {"type": "string", "format": "uri"}, "version": {"enum": ["2.1.0"]},
        "runs": items("run"), **names("inlineExternalProperties")}),
    "run": object_of("tool", {
        "tool": "tool", "invocations": items("invocation"), "results": items("result"),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]}, **names(
            "conversion language versionControlProvenance originalUriBaseIds artifacts "
            "logicalLocations graphs automationDetails runAggregates baselineGuid redactionTokens "
            "defaultEncoding defaultSourceLanguage newlineSequences externalPropertyFileReferences "
            "threadFlowLocations taxonomies addresses translations policies webRequests "
            "webResponses specialLocations")}),
    "tool": object_of("driver", {"driver": "toolComponent", "extensions": items(
        "toolComponent", unique=True)}),
    "toolComponent": object_of("name", {
        "name": STRING, "version": STRING, "semanticVersion": STRING, "fullName": STRING,
        "organization": STRING, "product": STRING, "productSuite": STRING,
        "dottedQuadFileVersion": {"type": "string", "pattern": r"[0-9]+(\.[0-9]+){3}"},
        "informationUri": {"type": "string", "format": "uri"},
        "downloadUri": {"type": "string", "format": "uri"}, **names(
            "guid shortDescription fullDescription releaseDateUtc globalMessageStrings "
            "notifications rules taxa locations language contents isComprehensive "
            "localizedDataSemanticVersion minimumRequiredLocalizedDataSemanticVersion "
            "associatedComponent translationMetadata supportedTaxonomies")}),
    "invocation": object_of("executionSuccessful", {
        "executionSuccessful": BOOLEAN, "exitCode": INTEGER, "commandLine": STRING,
        "arguments": items(STRING), **names(
            "responseFiles startTimeUtc endTimeUtc exitCodeDescription exitSignalName "
            "exitSignalNumber processStartFailureMessage machine account processId "
            "executableLocation workingDirectory environmentVariables stdin stdout stderr "
            "stdoutStderr ruleConfigurationOverrides notificationConfigurationOverrides "
            "toolExecutionNotifications toolConfigurationNotifications")}),
    "result": object_of("message", {
        "message": "message", "level": {"enum": ["none", "note", "warning", "error"]},
        "kind": {"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
        "locations": items("location"), "relatedLocations": items("location", unique=True),
        "fixes": items("fix", unique=True), "ruleId": STRING, "ruleIndex": INDEX, **names(
            "rule analysisTarget guid correlationGuid occurrenceCount partialFingerprints "
            "fingerprints stacks codeFlows graphs graphTraversals suppressions baselineState rank "
            "attachments hostedViewerUri workItemUris provenance taxa webRequest webResponse")}),
    "message": object_of("", {"text": STRING, "markdown": STRING, "id": STRING,
                              "arguments": items(STRING)}, ["text", "id"]),
    "location": object_of("", {
        "id": INDEX, "physicalLocation": "physicalLocation", "message": "message",
        **names("logicalLocations annotations relationships")}),
    "physicalLocation": object_of("", {
        "artifactLocation": "artifactLocation", "region": "region", "contextRegion": "region",
        **names("address")}, ["artifactLocation", "address"]),
    "artifactLocation": object_of("", {
        "uri": {"type": "string", "format": "uri-reference"}, "uriBaseId": STRING, "index": INDEX,
        "description": "message"}),
    "region": object_of("", {
        "startLine": PLACE, "startColumn": PLACE, "endLine": PLACE, "endColumn": PLACE,
        "charOffset": INDEX, "charLength": COUNT, "byteOffset": INDEX, "byteLength": COUNT,
        "snippet": "artifactContent", "message": "message", "sourceLanguage": STRING}),
    "fix": object_of("artifactChanges", {
        "artifactChanges": items("artifactChange", 1, True), "description": "message"}),
    "artifactChange": object_of("artifactLocation replacements", {
        "artifactLocation": "artifactLocation", "replacements": items("replacement", 1)}),
    "replacement": object_of("deletedRegion", {
        "deletedRegion": "region", "insertedContent": "artifactContent"}),
    "artifactContent": object_of("", {"text": STRING, "binary": STRING, **names("rendered")}),
}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def faults_of(value, rule="log", where="log"):
    """The faults of a value as an object of this name, or by this rule."""
    rule = SCHEMA[rule] if isinstance(rule, str) else rule
    if "enum" in rule and value not in rule["enum"]:
        yield f"{where}: {value!r} is none of {rule['enum']}"
    kind = TYPES.get(rule.get("type"))
    if kind and (not isinstance(value, kind) or kind is int and isinstance(value, bool)):
        yield f"{where}: {value!r} is no {rule['type']}"
    elif kind is dict:
        yield from faults_of_object(value, rule, where)
    elif kind is list:
        if len(value) < rule["minItems"]:
            yield f"{where}: {len(value)} items"
        if rule["uniqueItems"] and any(item in value[:at] for at, item in enumerate(value)):
            yield f"{where}: an item occurs twice"
        for at, item in enumerate(value):
            yield from faults_of(item, rule["items"], f"{where}[{at}]")
    elif kind is int and value < rule.get("minimum", value):
        yield f"{where}: {value} is below {rule['minimum']}"
    elif kind is str and not FORMATS.get(rule.get("format"), lambda text: True)(value):
        yield f"{where}: {value!r} is no {rule['format']}"
    elif kind is str and not re.fullmatch(rule.get("pattern", "(?s:.*)"), value):
        yield f"{where}: {value!r} does not match {rule['pattern']}"


def faults_of_object(value, rule, where):
    for name in rule["required"]:
        if name not in value:
            yield f"{where}: has no {name}"
    if rule["anyOf"] and not any(name in value for name in rule["anyOf"]):
        yield f"{where}: has none of {rule['anyOf']}"
    for name, member in value.items():
        if name not in rule["properties"]:
            yield f"{where}: has an unknown member {name}"
        else:
            yield from faults_of(member, rule["properties"][name], f"{where}.{name}")
    yield from faults_of_region(value, where)


def faults_of_region(value, where):
    """The standard says in words (3.30) that the end of a region is not before its start."""
    if "startLine" in value and value.get("endLine", value["startLine"]) == value["startLine"] and \
            isinstance(value.get("endColumn"), int) and \
            value["endColumn"] < value.get("startColumn", 1):
        yield f"{where}: ends at {value['endColumn']}, before it starts"


# ---- the power of the validation ----------------------------------------------------------------

def members_of(value, rule="log", path=()):
    """The paths of all members and items, the value there, and whether it must be there."""
    rule = SCHEMA[rule] if isinstance(rule, str) else rule
    for key in value if isinstance(value, dict) else range(len(value)):
        is_object = isinstance(value, dict)
        needed = is_object and key in (*rule["required"], *rule["anyOf"])
        yield (*path, key), value[key], needed
        if isinstance(value[key], (dict, list)):
            part = rule["properties"][key] if is_object else rule["items"]
            yield from members_of(value[key], part, (*path, key))


def corrupted(log):
    """Logs with one fault each, and what was done: a member of another type, an unknown member, a
    required one that is missing, a number below its least, a list without its items."""
    def changed(path, change):
        whole = copy.deepcopy(log)
        holder = whole
        for key in path[:-1]:
            holder = holder[key]
        change(holder, path[-1])
        return whole
    for path, value, needed in members_of(log):
        word = ".".join(str(key) for key in path)
        yield f"{word} of another type", changed(
            path, lambda holder, key: operator.setitem(holder, key, 1.5))
        if isinstance(value, dict):
            yield f"{word} with another member", changed(
                path, lambda holder, key: holder[key].update(other=1))
        if needed:
            yield f"without {word}", changed(path, lambda holder, key: holder.pop(key))
        if isinstance(value, int) and path[-1] != "exitCode" and not isinstance(value, bool):
            yield f"{word} is 0", changed(path, lambda holder, key: holder.update({key: 0}))
        if path[-1] in ("artifactChanges", "replacements"):
            yield f"{word} is empty", changed(path, lambda holder, key: holder.update({key: []}))
        if path[-1] in ("uri", "$schema"):
            yield f"{word} has a space", changed(path, lambda holder, key: holder.update(
                {key: holder[key] + " x"}))
        if path[-1] == "endColumn":
            yield f"{word} is before the start", changed(path, lambda holder, key: holder.update(
                startColumn=holder[key] + 1))
        if path[-1] in ("relatedLocations", "fixes", "artifactChanges"):
            yield f"{word} twice", changed(
                path, lambda holder, key: holder[key].append(holder[key][0]))
