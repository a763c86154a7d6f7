"""The text that small jobs learn from: short sentences drawn by a fixed seed, so that losses change only with the code."""

import pathlib
import random

SUBJECTS = "the mesh,a rank,the stage,this group,one shard,the whole job,every device,a late message".split(",")
VERBS = "holds,sends,gathers,splits,waits for,forgets,sums up,carries".split(",")
OBJECTS = "the rows,two columns,its part,the gradient,a small tensor,the last step,zero bytes,the next stage".split(",")
ENDS = "before the loss falls,while others compute,at the end of the day,twice,without a copy,in order".split(",")


def sentence(draw):
    """One sentence of about 50 bytes, now and then with a number."""
    words = [draw.choice(part) for part in (SUBJECTS, VERBS, OBJECTS)]
    words.append(f"{draw.randrange(2000)} times" if draw.random() < 0.2 else draw.choice(ENDS))
    return " ".join(words).capitalize() + ".\n"


def write(folder):
    """Three files in chapters/ and one, notes.txt, next to them: about 60 kB of ASCII in all."""
    draw = random.Random(2026)
    folder = pathlib.Path(folder)
    (folder / "chapters").mkdir()
    for name in ("chapters/one.txt", "chapters/two.txt", "chapters/three.txt", "notes.txt"):
        (folder / name).write_text("".join(sentence(draw) for _ in range(300)))
