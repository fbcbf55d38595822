"""Every reason, note and warning of the reports, in each language of the reader: the one table of these words."""

from jury_analysis.wording import Reason, Wording


def _fixed(english: str, japanese: str) -> Reason:
    return Wording(english, japanese)()


# Intervals
FEWER_CLUSTERS = Wording(
    "no interval: {n} clusters, fewer than {least}",
    "クラスターが{n}件（{least}件未満）のため区間なし",
    "no interval: {n} cluster, fewer than {least}",
)
CLUSTERS_ARE_FEW = Wording(
    "only {n} clusters, fewer than {least}: the interval may be too narrow",
    "クラスターが{n}件（{least}件未満）のため、区間が狭すぎる可能性があります",
)
UNDEFINED_IN_MANY = Wording(
    "no interval: undefined in {n} of {all} resamples", "区間なし: 再標本{all}回中{n}回で計算できません"
)
UNDEFINED_IN_SOME = Wording(
    "undefined in {n} of {all} resamples, which the interval leaves out",
    "再標本{all}回中{n}回は計算できず、区間から除外しています",
)
ALIKE_WITHIN_LIMITS = _fixed(
    "all clusters change alike: the interval is from Wilson's limit of the clusters that may differ",
    "すべてのクラスターが同じように変化したため、区間は異なりうるクラスターの割合のウィルソン限界によります",
)
UNCHANGED_WITHIN_LIMITS = _fixed(
    "no cluster changes: the interval is from Wilson's limit of the clusters that may differ",
    "変化したクラスターがないため、区間は異なりうるクラスターの割合のウィルソン限界によります",
)
FEW_CHANGES_WITHIN_LIMITS = Wording(
    "only {n} clusters change, fewer than {least}: the interval covers Wilson limits",
    "変化したクラスターが{n}件（{least}件未満）のため、区間はウィルソン限界を含みます",
    "only {n} cluster changes, fewer than {least}: the interval covers Wilson limits",
)
GROUPED_CLUSTERS = Wording(
    "{clusters} clusters were drawn in {groups} groups", "クラスター{clusters}件を{groups}群にまとめて抽出しました"
)
DEPENDENT = _fixed(
    "Wilson's interval takes the units for independent, but some are of one cluster",
    "ウィルソンの区間は独立を仮定しますが、同じクラスターのものが含まれています",
)
NO_RESAMPLES = _fixed("no interval: 0 resamples", "区間なし: 再標本が0回です")
WIDTH_ZERO = _fixed(
    "no interval: the data do not vary, and an interval of width zero would claim certainty",
    "区間なし: データにばらつきがなく、幅ゼロの区間は確実さを装います",
)
FEW_HUMANS = _fixed(
    "no interval: the humans are few, and no sample of cases",
    "区間なし: 評価者が少数で、ケースの標本ではありません",
)
NOT_DEFINED = _fixed("the data do not define it", "このデータでは計算できません")
NO_UNIT = _fixed("no unit counts", "該当するものがありません")
NO_PAIR_COUNTS = _fixed("no pair counts", "該当する組がありません")

# Agreement
ONE_CATEGORY = _fixed(
    "only one verdict occurs: agreement cannot be distinguished from chance",
    "判定が1種類だけで、一致と偶然を区別できません",
)
NO_PAIR = _fixed("no case has votes of two seats", "2名の票があるケースはありません")
NO_PAIR_OF_THESE = _fixed("no case has votes of both seats", "両者の票があるケースはありません")
NO_SCORES = _fixed("no case has scores of two seats", "2名のスコアがあるケースはありません")
EQUAL_SCORES = _fixed("all scores are equal", "スコアがすべて同じです")
NO_COMPLETE_CASE = _fixed("no case has a vote of every seat", "全員の票があるケースはありません")
NOT_ORDERED = _fixed("the verdicts have no order", "判定に順序がありません")
NO_PASS = _fixed("the verdicts have no order, so none is a pass", "判定に順序がないため、合格はありません")
NO_PASS_OR_FAIL = _fixed(
    "the verdicts have no order, so none is a pass or a fail", "判定に順序がないため、合格も不合格もありません"
)
NO_REPEATS = _fixed(
    "no case was judged more than once: run with --repeat",
    "複数回判定したケースはありません（--repeatで実行してください）",
)
NO_REPEATS_OF_SEAT = _fixed("the seat has no two votes on a case", "同じケースに2票ある陪審員ではありません")
NO_TWO_VERDICTS = _fixed("no pair has two verdicts", "両方に判定がある組はありません")
NO_VERDICT = _fixed("no verdict", "判定なし")

# Labels
NO_DEBATE_LABEL = _fixed("no debate has a label", "ラベルのある議論はありません")
NO_UNIT_LABEL = _fixed("no unit has a label", "ラベルのあるものはありません")
NO_SUCH_LABEL = Wording("no unit has the label {name}", "ラベルが{name}のものはありません")
NO_DECIDED = _fixed("no labelled unit has a decided verdict", "ラベルのある議論に、確定した判定はありません")
NO_DECIDED_CONFIDENCE = _fixed(
    "no labelled unit has a decided verdict with this confidence",
    "ラベルのある議論に、この確信度を伴う確定した判定はありません",
)
NO_DECIDED_BY_ALL = _fixed(
    "no labelled unit was decided by all seats", "ラベルのある議論で、全員が判定したものはありません"
)
ONE_LABEL = _fixed("labels and verdicts are all of one category", "ラベルと判定がすべて1種類です")
ALL_RIGHT_OR_WRONG = _fixed("the verdicts are all right or all wrong", "判定がすべて正解か、すべて不正解です")
NO_CONFIDENCE = _fixed("no unit has such a confidence", "この確信度の議論はありません")
NO_LABELLED_PAIR = _fixed("no labelled pair of votes", "ラベルのある票の組はありません")
NOT_RANDOM = _fixed(
    "the labelled debates were not declared a random sample of all",
    "ラベルのある議論が全体の無作為標本とは指定されていません",
)
ALL_LABELLED = _fixed(
    "every debate has a label: the share of labels needs no correction",
    "すべての議論にラベルがあり、ラベルの割合の補正は不要です",
)
NO_LENGTH = _fixed(
    "no labelled case has a vote and a known length", "票と既知の長さがあるラベル付きのケースはありません"
)
NONE_ACCEPTED = _fixed("no verdict of the test part is accepted", "テスト部分で受け入れられた判定はありません")
NO_FAULT_LABEL = _fixed("no label is of a fault", "誤りを示すラベルはありません")
NO_FAULT_OUTCOME = _fixed("no fault is known to have such an outcome", "該当する結果が判明している誤りはありません")
NO_FAULT_MESSAGE = _fixed("no label of a fault names its message", "誤りの箇所（メッセージ）を示すラベルはありません")
NO_FOUND_MESSAGE = _fixed(
    "no fault that was found has a message in both the vote and the label",
    "見つかった誤りで、票とラベルの両方にメッセージの指定があるものはありません",
)
NO_PAIR_OF_MESSAGES = _fixed("no debate has one named by two seats", "2名が箇所を指定した議論はありません")
NO_AGREED_MESSAGE = _fixed(
    "the seats agree on none that a label calls right or wrong",
    "一致した箇所の正否をラベルから判断できる議論はありません",
)
NO_RIGHT_MESSAGE = _fixed(
    "no message can be right there: the labels pass, or name one that there is not",
    "正解となる箇所がありません（ラベルが合格であるか、存在しない箇所を示しています）",
)
NONE_NAMES_A_MESSAGE = _fixed("no vote names a message", "メッセージを指定した票はありません")
NO_MESSAGE_COUNT = _fixed("how many could be named is not known", "指定できる箇所の数が分かりません")
NO_QUOTATION = _fixed("nothing is quoted", "引用はありません")
NO_LABELLED_VOTE = _fixed("no such vote has a label", "該当する票にラベルはありません")
NO_FAILING_VERDICT = _fixed("no failing verdict was asked for evidence", "証拠を求められた不合格の判定はありません")
NO_TWO_ANNOTATORS = _fixed("no case has two annotators", "2名の評価者がいるケースはありません")
NO_OTHER_ANNOTATOR = _fixed("no case has a label of another annotator", "ほかの評価者のラベルがあるケースはありません")
TOO_FEW_ANNOTATORS = Wording(
    "the test needs {annotators} annotators or more with {cases} cases each that have a verdict and a label of another "
    "annotator; here are {found}",
    "この検定には、判定とほかの評価者のラベルがあるケースを{cases}件ずつ持つ評価者が{annotators}名以上必要です（現在{found}名）",
)

# Seats and rounds
NO_VOTE_IN_BOTH = _fixed("no seat voted in both rounds", "両方のラウンドで投票した陪審員はいません")
NO_OPPOSITION = _fixed("no seat was opposed to a plurality of its peers", "他の多数に反対した陪審員はいません")
NO_PANEL_DECIDED = _fixed("no panel was decided", "判定が定まった陪審団はありません")
ONE_SEAT_NO_PAIR = _fixed("one seat has no pair", "陪審員が1名で、組がありません")
ONE_SEAT = _fixed("the panel has one seat: without it there is none", "陪審員が1名のため、除くと誰も残りません")
NO_ERRORS_OF_PAIR = _fixed(
    "a seat of the pair is always right or always wrong, so its errors correlate with nothing",
    "常に正解（または不正解）の陪審員がいるため、誤りの相関はありません",
)
NO_ERRORS_OF_PAIRS = _fixed(
    "in each pair, a seat is always right or always wrong, so its errors correlate with nothing",
    "どの組にも常に正解（または不正解）の陪審員がいるため、誤りの相関はありません",
)
FIRST_ROUND = _fixed("there is no round before it", "その前のラウンドはありません")
EMPTY_GROUP = _fixed("one of the two groups is empty", "2群の一方が空です")
CONSTANT_PREDICTOR = _fixed("the predictor does not vary within a stratum", "層の中で説明変数にばらつきがありません")

# Tests
TOO_FEW_CLUSTERS = Wording(
    "{n} clusters, fewer than {least}", "クラスターが{n}件（{least}件未満）", "{n} cluster, fewer than {least}"
)
FEWER_THAN = Wording("fewer than {least} clusters", "クラスターが{least}件未満")
SAME_GAIN = _fixed("all clusters have the same gain", "すべてのクラスターで改善が同じです")
NO_CHANGE = _fixed("no cluster changes", "変化したクラスターはありません")
FEW_CHANGES = Wording(
    "only {n} clusters change, fewer than {least}: the chi-square distribution is a rough approximation",
    "変化したクラスターが{n}件（{least}件未満）だけのため、カイ二乗分布による近似は粗いものです",
    "only {n} cluster changes, fewer than {least}: the chi-square distribution is a rough approximation",
)

# What was left out, and warnings
STALE_VOTES = _fixed("stale", "以前の票")
SYNTHETIC_VOTES = _fixed("synthetic", "代替の票")
CONDITIONAL_VOTES = _fixed("asked only where other seats left the case open", "他の席で決まらない場合だけの票")
UNEVALUATED_LEFT_OUT = Wording(
    "{n} pairs without an evaluation are left out",
    "評価のない組{n}件を除外しています",
    "{n} pair without an evaluation is left out",
)
SIMULATED_DEBATES = _fixed("simulated", "模擬")
FEWER_THAN_TWO_VOTES = _fixed(
    "fewer than two votes in the first evaluation: not in the agreement",
    "最初の評価の票が2票未満（一致の計算から除外）",
)
SIMULATED_COUNT = Wording(
    "{n:,} of {all:,} debates are simulated: their votes are no evaluation by a model",
    "議論{all:,}件中{n:,}件が模擬で、その票はモデルの評価ではありません",
)
SIMULATED_ONLY = _fixed(
    "1 of 1 debate is simulated: its votes are no evaluation by a model",
    "唯一の議論が模擬で、その票はモデルの評価ではありません",
)
OF_FIRST_SET = Wording("first set: {reason}", "A: {reason}")
OF_SECOND_SET = Wording("second set: {reason}", "B: {reason}")
OF_PROBE = Wording("{probe}: {reason}", "{probe}: {reason}")
