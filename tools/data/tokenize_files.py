"""Token ids of text files in one flat file: what `autophi data tokenize` runs.

A file is one document: its ids are those of `Tokenizer.encode(text of the file, add_special_tokens=False)`,
and --append_eos appends one more to each. A file is read and tokenized in chunks where this is sure to
produce the same ids (`cuts_at_lines` says when and why), else at once, since most tokenizers look across ends
of lines.

Usage: tokenize_files.py --tokenizer=tokenizer.json --out=train.bin [--dtype=uint16] [--append_eos=TOKEN] FILE...
"""

import argparse
import array
import codecs
import json
import os
import sys

TYPE_CODES = {"uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i", "int64": "q"}
BLOCK_BYTES = 1 << 18
BLOCKS_TOGETHER = 8  # tokenized by as many threads as there are cores

# Patterns of pre-tokenizers whose pieces begin and end where a line does, if no white space is about its end.
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LINE_PATTERNS = (
    rf"{_WORDS}|\p{{N}}{{1,3}}|{_REST}",  # Llama 3, cl100k
    rf"{_WORDS}|\p{{N}}|{_REST}",  # Qwen 2
)


class Wrong(Exception):
    """An error that is reported to the user in one line."""


def cuts_at_lines(config):
    """Whether text may be split after a line feed that has no white space before and behind it.

    True for the tokenizers of GPT-2, Llama 3 and Qwen 2 and their like; `config` is the tokenizer.json. Their text is
    first cut into pieces by a pattern that is matched from left to right and looks no further back than where a piece
    begins; merges stay within a piece. Let the text be ..x\\ny.. with x and y no white space. No alternative of the
    patterns takes a line feed and what follows it that is no white space, so a piece ends at y; and what they match
    before y is the same if the text ends there: the line feed is a piece (GPT-2), or the end of the piece of
    punctuation with x. So the pieces of both parts are those of the whole. NFC joins nothing to a line feed. Tokens
    that are found before all that, as <|endoftext|>, must hold no line feed and leave the white space about them alone.
    """
    if config["model"]["type"] != "BPE" or (config.get("normalizer") or {"type": "NFC"}) != {"type": "NFC"}:
        return False
    for token in config.get("added_tokens") or []:
        if "\n" in token["content"] or token["lstrip"] or token["rstrip"] or token["single_word"]:
            return False
    return _is_known(config.get("pre_tokenizer") or {})


def _is_known(pre_tokenizer):
    if pre_tokenizer.get("type") == "ByteLevel":
        return pre_tokenizer["use_regex"] and not pre_tokenizer["add_prefix_space"]
    steps = pre_tokenizer.get("pretokenizers", [])
    if pre_tokenizer.get("type") != "Sequence" or [step["type"] for step in steps] != ["Split", "ByteLevel"]:
        return False
    split, level = steps
    return (split["pattern"].get("Regex") in LINE_PATTERNS and split["behavior"] == "Isolated"
            and not split["invert"] and not level["add_prefix_space"] and not level["use_regex"])


def decoded(path, block_bytes):
    """The text of a file, a block at a time; ends of lines stay what they are."""
    decoder = codecs.getincrementaldecoder("utf-8")("strict")
    done = 0
    with open(path, "rb") as file:
        while True:
            block = file.read(block_bytes)
            held = len(decoder.getstate()[0])
            try:
                yield decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                at = done - held + error.start
                raise Wrong(f"'{path}' is not UTF-8 at byte {at}; convert it first.") from None
            done += len(block)
            if not block:
                return


def last_cut(text):
    """Behind the last line feed of `text` with no white space before and behind it; 0 if there is none."""
    at = text.rfind("\n", 1, len(text) - 1)
    while at > 0 and (text[at - 1].isspace() or text[at + 1].isspace()):
        at = text.rfind("\n", 1, at)
    return at + 1 if at > 0 else 0


def parts(path, by_lines, block_bytes=BLOCK_BYTES):
    """The text of a file in chunks whose ids, concatenated, are those of the file."""
    kept = []
    tail = ""  # the last two characters so far: whether there is a cut may depend on the next
    for block in decoded(path, block_bytes):
        text = tail + block
        cut = last_cut(text) if by_lines else 0
        if cut:
            yield "".join(kept) + text[:cut]
            kept, text = [], text[cut:]
        kept.append(text[:-2])
        tail = text[-2:]
    text = "".join(kept) + tail
    if text:
        yield text


def encoded(tokenizer, texts):
    """Lists of ids, some texts at a time."""
    encode = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)  # without offsets, where there is it
    together = []
    for text in texts:
        together.append(text)
        if len(together) == BLOCKS_TOGETHER:
            yield from (encoding.ids for encoding in encode(together, add_special_tokens=False))
            together = []
    yield from (encoding.ids for encoding in encode(together, add_special_tokens=False))


class Output:
    """The flat file; it appears complete or not at all."""

    def __init__(self, path, dtype):
        self.path, self.dtype = path, dtype
        self.tokens, self.largest = 0, -1
        self.part = path + ".part"
        self.file = open(self.part, "wb")  # pylint: disable=consider-using-with

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.file.close()
        if kind is None:
            os.replace(self.part, self.path)
        else:
            os.remove(self.part)

    def write(self, ids, path, before):
        """before: ids of this file so far."""
        try:
            values = array.array(TYPE_CODES[self.dtype], ids)
        except OverflowError:
            limit = 1 << (8 * array.array(TYPE_CODES[self.dtype]).itemsize - (self.dtype[0] == "i"))
            at = next(i for i, value in enumerate(ids) if value >= limit)
            raise Wrong(f"token {before + at} of '{path}' is the id {ids[at]}, which {self.dtype} does not hold (0 to "
                        f"{limit - 1}); use --dtype={'uint16' if ids[at] < 65536 else 'uint32'}.") from None
        if sys.byteorder == "big":
            values.byteswap()
        values.tofile(self.file)
        self.tokens += len(ids)
        self.largest = max(self.largest, max(ids, default=-1))


def load_tokenizer(path):
    try:
        import tokenizers  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Wrong(f"{sys.executable} has no package 'tokenizers' ({error}). Install it (pip install tokenizers), or "
                    "name a Python that has it (--python=PATH).") from None
    if not os.path.isfile(path):
        raise Wrong(f"there is no tokenizer '{path}'; name a tokenizer.json.")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(path)
    except Exception as error:  # the package raises nothing narrower
        raise Wrong(f"'{path}' is no tokenizer.json: {error}.") from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def eos_of(tokenizer, token):
    number = tokenizer.token_to_id(token)
    if number is None:
        added = sorted(each.content for each in tokenizer.get_added_tokens_decoder().values())
        raise Wrong(f"the tokenizer has no token '{token}' (--append_eos); it adds {', '.join(added) or 'none'}.")
    return number


def tokenize(options):
    tokenizer = load_tokenizer(options.tokenizer)
    config = json.loads(tokenizer.to_str())
    if config["model"].get("dropout"):
        raise Wrong(f"'{options.tokenizer}' merges at random (model.dropout); set that to null.")
    eos = [eos_of(tokenizer, options.append_eos)] if options.append_eos else []
    by_lines = cuts_at_lines(config)
    for path in options.files:
        if not os.path.isfile(path):
            raise Wrong(f"there is no file '{path}'.")
        if os.path.realpath(path) == os.path.realpath(options.out):
            raise Wrong(f"'{path}' is both read and written; write to another one (--out).")
    with Output(options.out, options.dtype) as out:
        for path in options.files:
            begin = out.tokens
            for ids in encoded(tokenizer, parts(path, by_lines)):
                out.write(ids, path, out.tokens - begin)
            out.write(eos, path, out.tokens - begin)
    count = len(options.files)
    print(f"{options.out}: {out.tokens:,} tokens ({options.dtype}) of {count} file{'' if count == 1 else 's'}"
          f"{'' if by_lines else ', each tokenized at once'}; largest id {out.largest}, "
          f"of a vocabulary of {tokenizer.get_vocab_size():,}")


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--dtype", choices=TYPE_CODES, default="uint16")
    parser.add_argument("--append_eos", default="")
    parser.add_argument("files", nargs="+")
    try:
        tokenize(parser.parse_args())
    except Wrong as error:
        print(f"autophi data tokenize: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = error.filename or "the output"  # of writes the system says no name
        print(f"autophi data tokenize: '{where}': {error.strerror}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
