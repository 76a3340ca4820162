"""Where the steps read and write: one work folder, and the folder `shared` beside the checkout."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
SOURCES = HERE / "sources.tsv"
PARAPHRASE = REPOSITORY / "tests" / "bench" / "data"


@dataclass(frozen=True, slots=True)
class Places:
    """The files one training run reads and leaves behind."""

    work: Path
    shared: Path

    @property
    def archives(self) -> Path:
        """Downloaded packages, one folder a registry."""
        return self.work / "archives"

    @property
    def texts(self) -> Path:
        """Every text taken from the packages."""
        return self.work / "texts.jsonl"

    @property
    def pairs(self) -> Path:
        """Every title and body taken from the packages."""
        return self.work / "pairs.jsonl"

    @property
    def licences(self) -> Path:
        """What each package declares about itself, as read from its own archive."""
        return self.work / "licences.tsv"

    @property
    def chosen(self) -> Path:
        """The texts the teacher reads, one a line."""
        return self.work / "chosen.txt"

    @property
    def teacher(self) -> Path:
        """The teacher's vectors for `chosen`, in its order; may stop short of its end."""
        return self.work / "teacher.npy"

    @property
    def table(self) -> Path:
        """The trained table."""
        return self.work / "static.npz"

    @property
    def alignment(self) -> Path:
        """The map from the teacher's space to the table's."""
        return self.work / "alignment.npy"

    @property
    def tuned(self) -> Path:
        """That map, moved towards notes and what is asked of them."""
        return self.work / "tuned.npy"

    @property
    def notes(self) -> Path:
        """Our own notes and questions."""
        return PARAPHRASE / "notes.jsonl"

    @property
    def projection(self) -> Path:
        """The axes of the teacher's states that are kept."""
        return self.work / "pieces.npy"

    @property
    def start(self) -> Path:
        """The table that training starts from."""
        return self.shared / "assets" / "static_minilm_256_int8.npz"

    @property
    def encoder(self) -> Path:
        """The teacher's weights."""
        return self.shared / "assets" / "minilm_q8.npz"

    @property
    def vocabulary(self) -> Path:
        """The WordPieces, one a line."""
        return self.shared / "assets" / "vocab.txt"

    @property
    def benchmarks(self) -> Path:
        """Retrieval sets; evaluated on, never trained on."""
        return self.shared / "data"

    @property
    def evaluated_code(self) -> Path:
        """Code that is searched in a benchmark; what occurs in it is not learned from."""
        return self.benchmarks / "cosqa" / "corpus.jsonl"
