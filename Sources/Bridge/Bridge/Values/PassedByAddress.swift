/// Makes the type that contains it be passed by address.
///
/// The compiler passes a value of a struct with many fields by these fields, each as an argument of its own, and spends up to half a minute for
/// each file that does so (Swift 6.3.1: 199 s of CPU for the module, 31 s with this). A value with a member of an existential type is passed
/// by its address.
struct PassedByAddress: Sendable {
    private let member: any Sendable = ()
}
