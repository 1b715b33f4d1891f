"""Sentences with the names of a data set."""

from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.visualization import Names
from eigsearch.visualization.sentences import reason, sentence
from tests.visualization.samples import (
    MOLECULES,
    explained,
    nitro_explanation,
    nitrobenzene,
)


class TestSentences:
    def test_the_sentence_is_that_of_the_explanation_with_names(self):
        explanation = nitro_explanation()
        assert sentence(explanation, Names(), "edge") == explanation.sentence()
        assert sentence(explanation, MOLECULES, "bond") == (
            "P(mutagen) = 0.97; with these 3 bonds alone 0.95; without them 0.11."
        )

    def test_one_edge_is_spoken_of_in_the_singular(self):
        assert "with this bond alone" in sentence(nitro_explanation().at(1), MOLECULES, "bond")

    def test_the_reason_names_the_gain_and_the_sizes(self):
        assert reason(nitro_explanation()) == (
            "Chosen because Fidelity+ 0.86 − Fidelity− 0.02 = 0.84 is the highest gain of the "
            "4 sizes tried, from 1 to 5."
        )

    def test_a_single_size_needs_no_reason_but_says_so(self):
        assert "only one" in reason(explained(nitrobenzene(), size=2, sizes=[2]))

    def test_another_search_is_named(self):
        config = {**nitro_explanation().config, "search": "beam"}
        assert reason(nitro_explanation(config=config)).startswith("Found by beam")

    def test_reason_of_a_counterfactual_of_a_molecule_counts_bonds(self):
        fields = vars(nitro_explanation()).items()
        names = FlipExplanation.__dataclass_fields__
        flip = FlipExplanation(**{name: value for name, value in fields if name in names})
        assert f"{flip.num_groups} bonds could be removed" in reason(flip, "bond")
