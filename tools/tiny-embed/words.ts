/** Some English words by topic, written for tiny-embed. */
export const topics: Readonly<Record<string, string>> = {
  animals:
    'cat dog kitten puppy horse cow sheep goat pig bird fish lion tiger bear wolf fox mouse rabbit elephant monkey snake frog duck chicken animal pet zoo farm',
  food: 'food eat bread cheese apple banana orange rice meat soup salad cake sugar salt butter milk egg potato tomato breakfast lunch dinner cook kitchen recipe restaurant hungry fruit pizza pasta',
  drinks: 'drink water coffee tea juice wine beer glass cup bottle thirsty',
  places:
    'city town village country capital paris london berlin rome madrid france germany italy spain england europe asia africa america street road bridge map travel visit tourist',
  weather:
    'weather rain snow wind storm cloud sun sunny cold hot warm temperature winter summer spring autumn forecast ice fog thunder',
  music: 'music song sing singer piano guitar violin drum band concert melody album radio orchestra listen dance',
  sport:
    'sport football soccer tennis basketball run runner race team player match goal score win champion coach swim ball game stadium',
  computers:
    'computer software program code programming developer server database network internet website data file bug error api python java keyboard screen laptop phone app password login',
  money:
    'money bank pay price cost buy sell shop store market dollar euro invoice payment refund tax loan credit account budget cheap expensive',
  health:
    'health doctor hospital medicine nurse patient ill sick pain disease cure heart blood fever drug treatment dentist clinic',
  family:
    'family mother father parent son daughter brother sister child baby grandmother grandfather wife husband uncle aunt marriage wedding',
  school:
    'school teacher student lesson learn study university exam class book read write pencil library homework education professor science mathematics',
  colours: 'colour color red green blue yellow black white brown purple pink grey',
  numbers: 'number one two three four five six seven eight nine ten hundred thousand million count',
  vehicles:
    'car bus train plane bicycle truck ship boat drive driver engine wheel airport station ticket traffic vehicle flight',
  house: 'house home room door window roof wall floor bed table chair garden lamp build apartment rent furniture',
  clothes: 'clothes shirt trousers dress shoe hat coat jacket sock wear fashion skirt glove',
  nature:
    'nature tree flower forest river sea ocean mountain lake island beach grass leaf plant earth sky moon star planet desert',
  time: 'time day week month year hour minute second today tomorrow yesterday morning evening night clock calendar late early',
  feelings: 'happy sad angry love hate fear afraid joy smile laugh cry worried proud glad tired emotion feeling',
  law: 'law court judge police crime lawyer government president minister election vote parliament prison rule contract rights politics',
  work: 'work job office boss employee company business manager meeting project salary customer career hire factory',
};

/** Words that say little about the topic of a text. */
export const weakWords =
  'a an the and or but if of to in on at by for with from as is are was were be been am do does did have has had i you he she it we they me him her us them my your his its our their this that these those not no yes what which who where when why how can could will would shall should may might must there here so very too also just about into over under more most some any all';
