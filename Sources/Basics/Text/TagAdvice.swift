/// Sentences about tags that several parts of the program show, so that all of them say the same.
public enum TagAdvice {
    /// How to make a tag advertise that is not received.
    public static let wake = "touch or move the tag: it stops advertising after 60 seconds"
    /// How to make a tag advertise that sleeps.
    public static let sleeps = "Touch it or move it; it advertises for one minute then"
    /// How to make a tag advertise that is not paired.
    public static let hold = "Hold the tag's button for three seconds: it then advertises for 60 seconds"
}
